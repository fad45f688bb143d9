# SPDX-License-Identifier: BSD-3-Clause
"""The heat equation in a periodic box, with FFTs of mpi4py-fft: one there and one back for each step.

Spectral codes (turbulence, plasmas, electronic structure) spend their time like this: each transform passes the whole field
once through MPI_Alltoallw. The exact solution is known, so the program checks its own result.
"""
import sys
import time

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

POINTS = 128  # each way
STEPS = 60
TIME_STEP = 1e-3
WAVES = (1, 2, 3)  # of the initial field, in a box of 2 pi


def local_mesh(transform, spectral):
    """The part of this rank: coordinates, or wave numbers."""
    parts = transform.local_slice(spectral)
    points = np.arange(POINTS) * 2 * np.pi / POINTS
    full, half = np.fft.fftfreq(POINTS, 1 / POINTS), np.fft.rfftfreq(POINTS, 1 / POINTS)
    axes = (full, full, half) if spectral else (points, points, points)
    return np.meshgrid(*(axis[part] for axis, part in zip(axes, parts)), indexing="ij", sparse=True)


def main():
    transform = PFFT(MPI.COMM_WORLD, [POINTS] * 3, axes=(0, 1, 2), dtype=float, grid=(-1,))
    field = newDistArray(transform, False)
    waves = newDistArray(transform, True)
    x, y, z = local_mesh(transform, False)
    start = np.sin(WAVES[0] * x) * np.sin(WAVES[1] * y) * np.sin(WAVES[2] * z)
    decay = np.exp(-TIME_STEP * sum(k * k for k in local_mesh(transform, True)))
    field[:] = start
    MPI.COMM_WORLD.Barrier()
    begin = time.perf_counter()
    for _ in range(STEPS):
        transform.forward(field, waves)
        waves *= decay
        transform.backward(waves, field)
    seconds = MPI.COMM_WORLD.allreduce(time.perf_counter() - begin, MPI.MAX)
    exact = start * np.exp(-TIME_STEP * STEPS * sum(k * k for k in WAVES))
    error = np.nan_to_num(np.abs(field - exact).max(initial=0), nan=np.inf)  # a NaN is no more than any number
    error = MPI.COMM_WORLD.allreduce(float(error), MPI.MAX)
    if MPI.COMM_WORLD.rank == 0:
        print(f"seconds: {seconds:.3f}\nlargest error: {error:.2e}")
    return 0 if error < 1e-12 else 1


if __name__ == "__main__":
    sys.exit(main())
