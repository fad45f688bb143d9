// SPDX-License-Identifier: BSD-3-Clause
// An MPI program for tests of laple-grid: grid_job WHAT [ARGUMENTS...]
//   where    each rank prints "rank host" and, on rank 0, its arguments, directory, $WORD and $LD_PRELOAD
//   exit N   all ranks end with status N
//   crash    rank 0 raises SIGSEGV
//   sleep    until killed
//   stdin    rank 0 counts the bytes of its standard input
//   barrier  median time of MPI_Barrier in milliseconds
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

static const char* variable(const char* name) {
    const char* value = getenv(name);
    return value != NULL ? value : "";
}

static void print_where(int argc, char** argv) {
    char host[MPI_MAX_PROCESSOR_NAME];
    char directory[4096];
    int length = 0;
    MPI_Get_processor_name(host, &length);
    printf("%d %s\n", rank, host);
    if (rank != 0) return;
    for (int i = 2; i < argc; ++i) printf("argument=%s\n", argv[i]);
    printf("directory=%s\nword=%s\npreload=%s\n", getcwd(directory, sizeof directory), variable("WORD"),
           variable("LD_PRELOAD"));
}

static void count_stdin(void) {
    long count = 0;
    if (rank != 0) return;
    while (getchar() != EOF) ++count;
    printf("bytes=%ld\n", count);
}

static int by_size(const void* a, const void* b) {
    const double x = *(const double*)a;
    const double y = *(const double*)b;
    return (x > y) - (x < y);
}

static void time_barrier(void) {
    enum { kRepetitions = 15 };
    double times[kRepetitions];
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < kRepetitions; ++i) {
        const double start = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
        times[i] = MPI_Wtime() - start;
    }
    qsort(times, kRepetitions, sizeof times[0], by_size);
    if (rank == 0) printf("barrier_ms=%.3f\n", times[kRepetitions / 2] * 1e3);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* what = argc > 1 ? argv[1] : "";
    int status = 0;
    if (strcmp(what, "where") == 0) print_where(argc, argv);
    if (strcmp(what, "exit") == 0 && argc > 2) status = atoi(argv[2]);
    if (strcmp(what, "crash") == 0 && rank == 0) raise(SIGSEGV);
    if (strcmp(what, "stdin") == 0) count_stdin();
    if (strcmp(what, "barrier") == 0) time_barrier();
    if (strcmp(what, "sleep") == 0) {
        if (rank == 0) printf("sleeping\n");
        fflush(stdout);
        sleep(1000);
    }
    MPI_Finalize();
    return status;
}
