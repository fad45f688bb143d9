# SPDX-License-Identifier: BSD-3-Clause
"""Pi, by ever more pieces: ten broadcasts and ten sums."""
from array import array
from mpi4py import MPI

comm = MPI.COMM_WORLD
pieces, part, pi = array("q", [0]), array("d", [0]), array("d", [0])
for attempt in range(10):
    pieces[0] = 100 << attempt if comm.rank == 0 else 0
    comm.Bcast(pieces)
    middles = ((i + 0.5) / pieces[0] for i in range(comm.rank, pieces[0], comm.size))
    part[0] = sum(4 / (1 + x * x) for x in middles) / pieces[0]
    comm.Allreduce(part, pi)
if comm.rank == 0:
    print(f"pi is about {pi[0]:.8f}")
