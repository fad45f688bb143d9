# "cpack" makes Debian packages: liblaple0, laple (the tools) and liblaple-dev. Debian's folder of libraries is that of the prefix
# /usr, which has to be known when the build folder is set up: preset "deb".
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME laple)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "The LaPle developers <laple@example.org>")
if(LAPLE_BUG_ADDRESS MATCHES "^[^ ]+@[^ ]+$")
  set(CPACK_PACKAGE_CONTACT "Maintainers of this package <${LAPLE_BUG_ADDRESS}>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "MPI collectives that know the network")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL libraries tools devel)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

set(CPACK_DEBIAN_LIBRARIES_PACKAGE_NAME liblaple${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_SECTION libs)
file(WRITE "${CMAKE_BINARY_DIR}/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_CONTROL_EXTRA "${CMAKE_BINARY_DIR}/triggers")
set(CPACK_COMPONENT_LIBRARIES_DESCRIPTION
"MPI collectives that know the network - libraries
 Collectives of an MPI job whose ranks are at several sites, racks or
 hosts, as fast as the network between them lets them be. Preloaded or
 linked, for MPICH.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME laple)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "liblaple${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}), mpich, python3")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "python3-matplotlib, iproute2")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION
"MPI collectives that know the network - tools
 Run programs with LaPle, find out who is near whom and how fast links
 are, see and compare plans, time collectives, and raise emulated grids on
 one machine.")

set(CPACK_DEBIAN_DEVEL_PACKAGE_NAME liblaple-dev)
set(CPACK_DEBIAN_DEVEL_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVEL_PACKAGE_DEPENDS "liblaple${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}), libmpich-dev")
set(CPACK_DEBIAN_DEVEL_PACKAGE_SUGGESTS libsodium-dev)  # for the static library
set(CPACK_COMPONENT_DEVEL_DESCRIPTION
"MPI collectives that know the network - development files
 Header, static library, and files for CMake and pkg-config.")

# What Debian wants to know of each package.
string(TIMESTAMP today "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE "${CMAKE_BINARY_DIR}/changelog"
"laple (${PROJECT_VERSION}) unstable; urgency=medium

  * LaPle ${PROJECT_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${today}
")
find_program(LAPLE_GZIP gzip)
if(LAPLE_GZIP)
  execute_process(COMMAND "${LAPLE_GZIP}" -9nkf "${CMAKE_BINARY_DIR}/changelog")
  foreach(part libraries:liblaple${PROJECT_VERSION_MAJOR} tools:laple devel:liblaple-dev)
    string(REPLACE ":" ";" part "${part}")
    list(GET part 0 component)
    list(GET part 1 package)
    install(FILES "${CMAKE_BINARY_DIR}/changelog.gz" DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
      COMPONENT ${component} EXCLUDE_FROM_ALL)
    install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
      COMPONENT ${component} EXCLUDE_FROM_ALL)
  endforeach()
endif()

# Job scripts preload liblaple.so by this name, on hosts that have no development files: it is no link for linking only.
file(WRITE "${CMAKE_BINARY_DIR}/lintian-overrides"
"# LD_PRELOAD=liblaple.so has to work where there are no development files.
liblaple${PROJECT_VERSION_MAJOR}: link-to-shared-library-in-wrong-package
")
install(FILES "${CMAKE_BINARY_DIR}/lintian-overrides" RENAME liblaple${PROJECT_VERSION_MAJOR}
  DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT libraries EXCLUDE_FROM_ALL)
include(CPack)
