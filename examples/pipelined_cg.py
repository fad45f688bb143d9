#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate gradients, plain and pipelined, by mpi4py: what pipelined_cg.c does.

    mpiexec -n 16 python3 pipelined_cg.py [WORK] [SOLVES]
"""
import sys
import time

import numpy as np
from mpi4py import MPI

ROWS = 500
TOLERANCE = 1e-10
comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
work = float(sys.argv[1]) if len(sys.argv) > 1 else 0.01
solves = int(sys.argv[2]) if len(sys.argv) > 2 else 2


def multiply(x):
    """A x for A = tridiagonal (-1, 2.1, -1). The ends of x come from the neighbours while the rank is at work."""
    ends = np.zeros(2)
    left = rank - 1 if rank > 0 else MPI.PROC_NULL
    right = rank + 1 if rank + 1 < ranks else MPI.PROC_NULL
    requests = [comm.Irecv(ends[:1], left, 1), comm.Irecv(ends[1:], right, 2),
                comm.Isend(x[:1], left, 2), comm.Isend(x[-1:], right, 1)]
    time.sleep(work)
    MPI.Request.Waitall(requests)
    padded = np.concatenate((ends[:1], x, ends[1:]))
    return 2.1 * x - padded[:-2] - padded[2:]


def sums(*own):
    result = np.empty(len(own))
    comm.Allreduce(np.array(own), result)
    return result


def plain(b):
    x, r, p, iterations = np.zeros(ROWS), b.copy(), b.copy(), 0
    gamma, = sums(r @ r)
    goal = TOLERANCE**2 * gamma
    while gamma > goal:
        q = multiply(p)
        alpha = gamma / sums(p @ q)[0]
        x, r = x + alpha * p, r - alpha * q
        last, gamma = gamma, sums(r @ r)[0]
        p, iterations = r + gamma / last * p, iterations + 1
    return x, iterations


def pipelined(b):
    x, r, iterations = np.zeros(ROWS), b.copy(), 0
    z, s, p = np.zeros(ROWS), np.zeros(ROWS), np.zeros(ROWS)
    w = multiply(r)
    alpha = last = goal = None
    result = np.empty(2)
    while True:
        own = np.array([r @ r, w @ r])
        request = comm.Iallreduce(own, result)
        q = multiply(w)
        request.Wait()
        gamma, delta = result
        goal = goal or TOLERANCE**2 * gamma
        if gamma <= goal:
            return x, iterations
        beta = gamma / last if last else 0.0
        alpha = gamma / (delta - beta * gamma / alpha) if last else gamma / delta
        last, iterations = gamma, iterations + 1
        z, s, p = q + beta * z, w + beta * s, r + beta * p
        x, r, w = x + alpha * p, r - alpha * s, w - alpha * z


def run(solve):
    taken, iterations, worst = 0.0, 0, 0.0
    comm.Barrier()
    for i in range(solves):
        b = np.sin(1.0 + i + rank * ROWS + np.arange(ROWS))
        start = time.perf_counter()
        x, needed = solve(b)
        taken, iterations = taken + time.perf_counter() - start, iterations + needed
        worst = max(worst, comm.allreduce(np.abs(b - multiply(x)).max(), MPI.MAX))
    if rank == 0:
        print(f"{solve.__name__:<10} {iterations:5} iterations, {1e3 * taken / iterations:7.2f} ms each, residual {worst:.1e}")
    return worst < 1e-8


sums(0.0)  # LaPle begins with the first blocking collective of a communicator
sys.exit(0 if all([run(plain), run(pipelined)]) else 1)
