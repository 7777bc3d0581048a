# SPDX-License-Identifier: Apache-2.0
# The installed package: headers, one static library per room, targets wyrm::<room> and wyrm::wyrm, and the program.
include(CMakePackageConfigHelpers)

get_property(wyrm_rooms GLOBAL PROPERTY WYRM_ROOMS)
foreach(room ${wyrm_rooms})
  install(TARGETS wyrm_${room} EXPORT ${WYRM_EXPORT})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wyrm
    FILES_MATCHING PATTERN "*.hpp")
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/include/wyrm/alloc.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wyrm)
install(TARGETS wyrm_wyrm EXPORT ${WYRM_EXPORT})
if(TARGET wyrm_program)
  install(TARGETS wyrm_program)
endif()

if(NOT WYRM_EXPORT STREQUAL "wyrm")
  return()  # the project that contains Wyrm installs the export set, and finds the dependencies in its own package
endif()
set(wyrm_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wyrm)
install(EXPORT wyrm NAMESPACE wyrm:: FILE wyrm-targets.cmake DESTINATION ${wyrm_package_dir})
configure_package_config_file(cmake/wyrm-config.cmake.in ${PROJECT_BINARY_DIR}/wyrm-config.cmake
  INSTALL_DESTINATION ${wyrm_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wyrm-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wyrm-config.cmake ${PROJECT_BINARY_DIR}/wyrm-config-version.cmake
  cmake/wyrm-cccl.cmake DESTINATION ${wyrm_package_dir})
