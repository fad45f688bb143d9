/* SPDX-License-Identifier: BSD-3-Clause
 * Conjugate gradients, plain and pipelined: what it gains to hide a reduction behind the matrix-vector
 * product.
 *
 *     mpicc -O2 pipelined_cg.c -o pipelined_cg -lm
 *     mpiexec -n 16 ./pipelined_cg [WORK] [SOLVES]
 *
 * Solves A x = b for A = tridiagonal (-1, 2.1, -1), each rank with a part of the rows. WORK: as many seconds
 * each product takes, beside what it needs here (default 0.01): a product of a larger matrix. The rank sleeps
 * then, so that ranks that share cores do not wait for each other.
 *
 *     plain         product -> sum -> update -> sum -> ...             two sums on the way
 *     pipelined     product ----------> update -> ...                  one sum, beside the product
 *                   sum     ---------->
 *
 * Source: P. Ghysels, W. Vanroose, Hiding global synchronization latency in the preconditioned Conjugate
 * Gradient algorithm, Parallel Computing 40 (2014), algorithm 3 without a preconditioner. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 500, MOST_ITERATIONS = 200 };
static const double tolerance = 1e-10;

/* A vector's part of this rank, and the neighbours' next element at both ends. */
typedef struct {
    double left;
    double own[ROWS];
    double right;
} Vector;

static int rank, ranks;
static double work = 0.01;

static double dot(const Vector* a, const Vector* b) {
    double sum = 0;
    for (int i = 0; i < ROWS; ++i) sum += a->own[i] * b->own[i];
    return sum;
}

/* a = x + factor a */
static void scale_and_add(Vector* a, double factor, const Vector* x) {
    for (int i = 0; i < ROWS; ++i) a->own[i] = x->own[i] + factor * a->own[i];
}

/* a += factor x */
static void add(Vector* a, double factor, const Vector* x) {
    for (int i = 0; i < ROWS; ++i) a->own[i] += factor * x->own[i];
}

static void rest(double seconds) {
    struct timespec time = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&time, NULL);
}

/* result = A x. The ends of x come from the neighbours while the rank is at work. */
static void multiply(Vector* x, Vector* result) {
    MPI_Request requests[4];
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    x->left = x->right = 0;
    MPI_Irecv(&x->left, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&x->right, 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&x->own[0], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&x->own[ROWS - 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[3]);
    rest(work);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ROWS; ++i) {
        const double before = i > 0 ? x->own[i - 1] : x->left;
        const double after = i + 1 < ROWS ? x->own[i + 1] : x->right;
        result->own[i] = 2.1 * x->own[i] - before - after;
    }
}

static double sum_of_all(double own) {
    double sum = 0;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* Both return how many iterations were needed; x begins with 0. */

static int solve_plain(const Vector* b, Vector* x) {
    Vector r = *b, p = *b, q;
    double gamma = sum_of_all(dot(&r, &r));
    const double goal = tolerance * tolerance * gamma;
    int iteration = 0;
    while (gamma > goal && iteration < MOST_ITERATIONS) {
        multiply(&p, &q);
        const double alpha = gamma / sum_of_all(dot(&p, &q));
        add(x, alpha, &p);
        add(&r, -alpha, &q);
        const double next = sum_of_all(dot(&r, &r));
        scale_and_add(&p, next / gamma, &r);
        gamma = next;
        ++iteration;
    }
    return iteration;
}

static int solve_pipelined(const Vector* b, Vector* x) {
    static const Vector zero;
    Vector r = *b, w, q, z = zero, s = zero, p = zero;
    double alpha = 0, last_gamma = 0, goal = 0;
    multiply(&r, &w);
    for (int iteration = 0;; ++iteration) {
        const double own[2] = {dot(&r, &r), dot(&w, &r)};
        double sums[2];
        MPI_Request request;
        MPI_Iallreduce(own, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        multiply(&w, &q);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        const double gamma = sums[0];
        if (iteration == 0) goal = tolerance * tolerance * gamma;
        if (gamma <= goal || iteration == MOST_ITERATIONS) return iteration;
        const double beta = iteration == 0 ? 0 : gamma / last_gamma;
        alpha = iteration == 0 ? gamma / sums[1] : gamma / (sums[1] - beta * gamma / alpha);
        last_gamma = gamma;
        scale_and_add(&z, beta, &q);
        scale_and_add(&s, beta, &w);
        scale_and_add(&p, beta, &r);
        add(x, alpha, &p);
        add(&r, -alpha, &s);
        add(&w, -alpha, &z);
    }
}

/* The largest |b - A x| of all ranks. */
static double residual(const Vector* b, Vector* x) {
    Vector product;
    double own = 0, most = 0;
    multiply(x, &product);
    for (int i = 0; i < ROWS; ++i) own = fmax(own, fabs(b->own[i] - product.own[i]));
    MPI_Reduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return most;
}

static int run(const char* name, int (*solve)(const Vector*, Vector*), int solves) {
    int is_wrong = 0;
    int iterations = 0;
    double most = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double time = 0;
    for (int i = 0; i < solves; ++i) {
        Vector b, x;
        memset(&x, 0, sizeof x);
        for (int j = 0; j < ROWS; ++j) b.own[j] = sin(1.0 + i + rank * ROWS + j);
        const double start = MPI_Wtime();
        iterations += solve(&b, &x);
        time += MPI_Wtime() - start;
        most = fmax(most, residual(&b, &x));
    }
    if (rank == 0) {
        is_wrong = most > 1e-8;
        printf("%-10s %5d iterations, %7.2f ms each, residual %.1e%s\n", name, iterations,
               1e3 * time / iterations, most, is_wrong ? "  WRONG" : "");
    }
    MPI_Bcast(&is_wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return is_wrong;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1) work = atof(argv[1]);
    const int solves = argc > 2 ? atoi(argv[2]) : 2;
    if (!(work >= 0) || solves < 1) {
        if (rank == 0) fprintf(stderr, "usage: pipelined_cg [SECONDS OF WORK] [SOLVES, 1 or more]\n");
        MPI_Finalize();
        return 2;
    }
    sum_of_all(0); /* LaPle begins with the first blocking collective of a communicator */
    int is_wrong = run("plain", solve_plain, solves);
    is_wrong |= run("pipelined", solve_pipelined, solves);
    MPI_Finalize();
    return is_wrong;
}
