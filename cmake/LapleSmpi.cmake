# SimGrid's SMPI: LaPle in simulated time. Sets laple_build_smpi.
set(LAPLE_BUILD_SMPI AUTO CACHE STRING "Build the simulated programs (needs SimGrid): AUTO, ON or OFF")
set_property(CACHE LAPLE_BUILD_SMPI PROPERTY STRINGS AUTO ON OFF)
find_program(LAPLE_SMPIRUN smpirun)
find_path(LAPLE_SMPI_INCLUDE_DIR smpi/smpi.h)
find_library(LAPLE_SIMGRID_LIBRARY simgrid)
mark_as_advanced(LAPLE_SMPIRUN LAPLE_SMPI_INCLUDE_DIR LAPLE_SIMGRID_LIBRARY)
set(laple_build_smpi OFF)
if(LAPLE_SMPIRUN AND LAPLE_SMPI_INCLUDE_DIR AND LAPLE_SIMGRID_LIBRARY)
  if(LAPLE_BUILD_SMPI STREQUAL "AUTO" OR LAPLE_BUILD_SMPI)
    set(laple_build_smpi ON)
  endif()
elseif(LAPLE_BUILD_SMPI STREQUAL "AUTO")
  message(STATUS "SimGrid not found: bench/smpi is left out (Debian: libsimgrid-dev)")
elseif(LAPLE_BUILD_SMPI)
  message(FATAL_ERROR "LAPLE_BUILD_SMPI is on, but SimGrid was not found. Install libsimgrid-dev, or turn it off.")
endif()

# What smpicxx does, but for its redefinitions of functions as macros, which common headers do not survive.
if(laple_build_smpi)
  add_library(laple_smpi_mpi INTERFACE)
  target_include_directories(laple_smpi_mpi SYSTEM INTERFACE
    "${LAPLE_SMPI_INCLUDE_DIR}/smpi" "${LAPLE_SMPI_INCLUDE_DIR}")
  target_link_libraries(laple_smpi_mpi INTERFACE "${LAPLE_SIMGRID_LIBRARY}")
endif()

# laple_add_smpi_program(name SOURCES... LIBRARIES...): build/.../smpi/name, to be started by smpirun, which loads it once
# for each rank: so it is a shared object, and stripped.
function(laple_add_smpi_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  set(target smpi-${name})
  add_library(${target} MODULE ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES
    PREFIX "" SUFFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/smpi"
    CXX_VISIBILITY_PRESET default)  # for main
  target_link_libraries(${target} PRIVATE laple_build_settings ${ARG_LIBRARIES}
    # Whole: SimGrid declares MPI_* weak, and a weak reference takes nothing out of an archive.
    $<LINK_LIBRARY:WHOLE_ARCHIVE,laple_smpi>)
  target_link_options(${target} PRIVATE
    LINKER:-s "LINKER:--version-script=${PROJECT_SOURCE_DIR}/bench/smpi/program.map")
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include")
  target_compile_definitions(${target} PRIVATE LAPLE_VERSION="${PROJECT_VERSION}")
endfunction()
