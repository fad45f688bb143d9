# To be included last: what is installed later is not written down. CMake's own manifests name files of packages (cpack) and of
# staged installations (DESTDIR) as they will be elsewhere, perhaps where such a package is installed here, too.
set(record "${CMAKE_BINARY_DIR}/installed.txt")
install(CODE "
  if(\"\$ENV{DESTDIR}\" STREQUAL \"\" AND NOT CMAKE_INSTALL_PREFIX MATCHES \"/_CPack_Packages/\")
    string(REPLACE \";\" \"\\n\" files \"\${CMAKE_INSTALL_MANIFEST_FILES}\")
    file(APPEND \"${record}\" \"\${files}\\n\")
  endif()" ALL_COMPONENTS)
add_custom_target(uninstall COMMAND sh "${CMAKE_CURRENT_LIST_DIR}/uninstall.sh" "${record}" VERBATIM)
