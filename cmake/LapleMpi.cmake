# MPICH. Debian names its wrappers mpicc.mpich when another MPI is installed too; a hint by the user always wins.
if(NOT DEFINED MPI_EXECUTABLE_SUFFIX AND NOT MPI_C_COMPILER AND NOT MPI_CXX_COMPILER AND NOT MPI_HOME)
  find_program(LAPLE_MPICC_MPICH mpicc.mpich)
  if(LAPLE_MPICC_MPICH)
    set(MPI_EXECUTABLE_SUFFIX .mpich)
  endif()
  mark_as_advanced(LAPLE_MPICC_MPICH)
endif()
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS C)
# What it has found it keeps, whatever MPI_C_COMPILER says later.
if(NOT LAPLE_MPI_WRAPPER)
  set(LAPLE_MPI_WRAPPER "${MPI_C_COMPILER}" CACHE INTERNAL "The MPI of this build directory")
elseif(NOT LAPLE_MPI_WRAPPER STREQUAL MPI_C_COMPILER)
  message(FATAL_ERROR "${CMAKE_BINARY_DIR} is set up for ${LAPLE_MPI_WRAPPER}, not for ${MPI_C_COMPILER}. "
                      "Add --fresh to the command, or give another directory with -B")
endif()

include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_c_source_compiles(
  "#include <mpi.h>\nint main(void) { return MPICH_NUMVERSION > 0 ? 0 : 1; }" LAPLE_MPI_IS_MPICH)
# MPI 5's standard ABI (libmpi_abi): MPICH's wrapper for it is mpicc_abi. Its handles have other values.
check_c_source_compiles(
  "#include <mpi.h>\n#ifdef MPICH_NUMVERSION\n#error\n#endif\nint main(void) { return MPI_ABI_VERSION - 1; }"
  LAPLE_MPI_IS_STANDARD_ABI)
unset(CMAKE_REQUIRED_LIBRARIES)

# The version it is built for, as its header says.
file(STRINGS "${MPI_C_HEADER_DIR}/mpi.h" LAPLE_MPICH_VERSION REGEX "^#define MPICH_VERSION ")
string(REGEX REPLACE ".*\"(.*)\".*" "MPICH \\1" LAPLE_BUILT_WITH_MPI "${LAPLE_MPICH_VERSION}")
if(LAPLE_MPI_IS_STANDARD_ABI)
  set(LAPLE_BUILT_WITH_MPI "MPI's standard ABI")
endif()
if(NOT LAPLE_MPI_IS_MPICH AND NOT LAPLE_MPI_IS_STANDARD_ABI AND NOT LAPLE_ANY_MPI)
  message(FATAL_ERROR "LaPle needs MPICH, an MPI with its ABI, or one with MPI 5's standard ABI, and found another at ${MPI_C_INCLUDE_DIRS}. "
                      "Install libmpich-dev, or name the wrapper: -DMPI_C_COMPILER=/path/to/mpicc")
endif()
