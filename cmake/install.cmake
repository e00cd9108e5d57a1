# What `cmake --install` puts where: the programs, the two libraries with their headers, and what find_package(Attune)
# and pkg-config read.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Others know the libraries by these names, in the build folder too.
set_target_properties(attune_shared PROPERTIES EXPORT_NAME attune)
set_target_properties(attune_runtime_shared PROPERTIES EXPORT_NAME runtime VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR})

install(TARGETS attune attune_server RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS attune_worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/attune)
install(TARGETS attune_shared attune_runtime_shared EXPORT AttuneTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/attune ${ATTUNE_OPTIONS}/include/attune DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(config ${CMAKE_INSTALL_LIBDIR}/cmake/Attune)
install(EXPORT AttuneTargets NAMESPACE attune:: DESTINATION ${config})
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/AttuneConfig.cmake.in ${CMAKE_BINARY_DIR}/AttuneConfig.cmake
  INSTALL_DESTINATION ${config})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/AttuneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/AttuneConfig.cmake ${CMAKE_BINARY_DIR}/AttuneConfigVersion.cmake
  DESTINATION ${config})

# The folder may be moved as a whole.
file(RELATIVE_PATH ATTUNE_PREFIX_FROM_HERE ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(library attune attune_runtime)
  set(ATTUNE_LIBRARY ${library})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/attune.pc.in ${CMAKE_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
