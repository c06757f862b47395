# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
# cmake --install: the program, the library with its headers, the package config, the JSON's schemas.
include(CMakePackageConfigHelpers)

set(memreplay_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/memreplay)
install(TARGETS memreplay_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS memreplay EXPORT memreplay-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/memreplay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT memreplay-targets NAMESPACE memreplay:: DESTINATION ${memreplay_package_dir})
configure_package_config_file(cmake/memreplay-config.cmake.in
  ${PROJECT_BINARY_DIR}/memreplay-config.cmake INSTALL_DESTINATION ${memreplay_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/memreplay-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/memreplay-config.cmake ${PROJECT_BINARY_DIR}/memreplay-config-version.cmake
  DESTINATION ${memreplay_package_dir})
install(DIRECTORY docs/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/memreplay)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
