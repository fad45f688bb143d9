# Install and export: laple::laple for CMake, laple.pc for pkg-config; both keep liblaple under --as-needed.
# laple-static.pc links liblaple.a: "pkg-config --static laple" means it only where all of the program is static.
include(CMakePackageConfigHelpers)

# Components: libraries that are preloaded, by their short names too; tools; and what only programs that are linked need.
install(TARGETS laple EXPORT lapleTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries)
install(TARGETS laple_deep laple_profile LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libraries)
install(TARGETS laple_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel)
install(FILES include/laple/laple.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/laple COMPONENT devel)
# Documents and examples, each where links of the others expect it.
install(FILES magpie_clusters.example LICENSE README.md CHANGELOG.md CONTRIBUTING.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools PATTERN docs/site EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS COMPONENT tools)
foreach(file bench/netpipe/README.md bench/planner/README.md bench/smpi/README.md bench/streams/README.md tools/grid/README.md
             packaging/spack/spack_repo/laple/packages/laple/package.py)
  cmake_path(GET file PARENT_PATH folder)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT tools)
endforeach()

set(LAPLE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/laple)
install(EXPORT lapleTargets NAMESPACE laple:: DESTINATION ${LAPLE_CMAKE_DIR} COMPONENT devel)
configure_package_config_file(cmake/lapleConfig.cmake.in "${CMAKE_BINARY_DIR}/lapleConfig.cmake"
  INSTALL_DESTINATION ${LAPLE_CMAKE_DIR})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/lapleConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/lapleConfig.cmake" "${CMAKE_BINARY_DIR}/lapleConfigVersion.cmake"
  DESTINATION ${LAPLE_CMAKE_DIR} COMPONENT devel)

# Relative to the file itself, so that an installation can be moved (or made with another --prefix).
file(RELATIVE_PATH LAPLE_PC_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
# A folder that is absolute stays where it is.
cmake_path(APPEND LAPLE_PC_LIBDIR "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
cmake_path(APPEND LAPLE_PC_INCLUDEDIR "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
configure_file(cmake/laple.pc.in "${CMAKE_BINARY_DIR}/laple.pc" @ONLY)
configure_file(cmake/laple-static.pc.in "${CMAKE_BINARY_DIR}/laple-static.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/laple.pc" "${CMAKE_BINARY_DIR}/laple-static.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)

