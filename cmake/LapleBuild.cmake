# Compile settings shared by every target: laple_build_settings, linked PRIVATE.
add_library(laple_build_settings INTERFACE)
target_compile_features(laple_build_settings INTERFACE cxx_std_20)
target_compile_options(laple_build_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -Wsuggest-override>
  $<$<BOOL:${LAPLE_WERROR}>:-Werror>)
if(LAPLE_SANITIZE)
  target_compile_options(laple_build_settings INTERFACE
    -fsanitize=${LAPLE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(laple_build_settings INTERFACE -fsanitize=${LAPLE_SANITIZE})
  # GCC takes what the sanitizers add to the standard library for uses of what was never written.
  target_compile_options(laple_build_settings INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(LAPLE_COVERAGE)
  target_compile_options(laple_build_settings INTERFACE --coverage)
  target_link_options(laple_build_settings INTERFACE --coverage)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# One place for all programs and libraries of a build tree, so that tools find each other as they do when installed.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

# laple_add_program(name SOURCES... LIBRARIES...): a command-line program that is installed.
function(laple_add_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE laple_build_settings laple_core CLI11::CLI11 ${ARG_LIBRARIES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tools")
  target_compile_definitions(${name} PRIVATE LAPLE_VERSION="${PROJECT_VERSION}")
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endfunction()
