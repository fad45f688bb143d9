// SPDX-License-Identifier: BSD-3-Clause
// Loads MPI for itself alone, as interpreters do: nothing that is preloaded finds MPI among the program's
// libraries. Usage: loaded_mpi LIBMPI
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
    void* mpi = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (mpi == NULL) {
        fprintf(stderr, "WRONG: %s\n", argc == 2 ? dlerror() : "usage: loaded_mpi LIBMPI");
        return 1;
    }
    int (*init)(int*, char***);
    int (*finalize)(void);
    *(void**)&init = dlsym(mpi, "MPI_Init");
    *(void**)&finalize = dlsym(mpi, "MPI_Finalize");
    init(&argc, &argv);
    finalize();
    puts("right");
    return 0;
}
