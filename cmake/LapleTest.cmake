# laple_add_unit_test(name SOURCES... LIBRARIES...): Catch2 cases that need no MPI. One program for each folder.
function(laple_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE laple_build_settings laple_catch_main laple_core ${ARG_LIBRARIES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(${name} PRIVATE LAPLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  # With a sanitizer some take several times as long.
  set(timeout 300)
  if(LAPLE_SANITIZE)
    set(timeout 1200)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT ${timeout})
endfunction()

# laple_add_mpi_test(name RANKS 1 2 ... SOURCES... LIBRARIES... ENVIRONMENT K=V...): Catch2 cases run by mpiexec, one
# test for each number of ranks. The yielding preload lets more ranks than cores make progress; MPIEXEC_TIMEOUT
# ends a job in which one rank failed and the others wait.
function(laple_add_mpi_test name)
  cmake_parse_arguments(ARG "" "" "RANKS;SOURCES;LIBRARIES;ENVIRONMENT" ${ARGN})
  if(ARG_SOURCES)
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE laple_build_settings laple_mpi_catch_main laple_core ${ARG_LIBRARIES})
    target_compile_definitions(${name} PRIVATE LAPLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  endif()
  laple_add_mpi_runs(${name} PROGRAM $<TARGET_FILE:${name}> RANKS ${ARG_RANKS} ENVIRONMENT ${ARG_ENVIRONMENT})
endfunction()

# The runs alone, of a program that exists.
function(laple_add_mpi_runs name)
  cmake_parse_arguments(ARG "" "PROGRAM" "RANKS;ENVIRONMENT;ARGUMENTS" ${ARGN})
  set(genv -genv LD_PRELOAD $<TARGET_FILE:laple_yield> -genv XDG_CACHE_HOME "${PROJECT_BINARY_DIR}/test-cache")
  foreach(entry IN LISTS ARG_ENVIRONMENT)
    string(REGEX MATCH "^([^=]+)=(.*)$" matched "${entry}")
    list(APPEND genv -genv "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
  endforeach()
  foreach(ranks IN LISTS ARG_RANKS)
    set(test ${name}.np${ranks})
    add_test(NAME ${test}
      COMMAND ${MPIEXEC_EXECUTABLE} ${genv} -n ${ranks} ${ARG_PROGRAM} ${ARG_ARGUMENTS})
    set_tests_properties(${test} PROPERTIES
      LABELS mpi PROCESSORS 2 TIMEOUT 200 ENVIRONMENT MPIEXEC_TIMEOUT=180)
  endforeach()
endfunction()
