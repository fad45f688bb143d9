/* Found before the real mpi.h by everything below src/mpi: the core knows no MPI (CONTRIBUTING.md, "Layers"). */
#error "the core must not include mpi.h: move this code to src/mpi"
