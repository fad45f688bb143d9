add_custom_target(uninstall COMMAND sh "${CMAKE_CURRENT_LIST_DIR}/uninstall.sh" "${CMAKE_BINARY_DIR}" VERBATIM)
