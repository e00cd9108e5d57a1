# What `cmake --install` puts where, as components that are Debian packages too (tools/packages/deb.py): `command`, the compiler
# with the library that has its code; `server`; `development` and `runtime`, the libraries as others' programs take them, with
# headers and what find_package(Attune) and pkg-config read.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Others know the libraries by these names, in the build folder too.
set_target_properties(attune_shared PROPERTIES EXPORT_NAME attune)
set_target_properties(attune_runtime_shared PROPERTIES EXPORT_NAME runtime VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR})

install(TARGETS attune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
install(TARGETS attune_server RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT server)
install(TARGETS attune_worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/attune COMPONENT command)
install(TARGETS attune_shared EXPORT AttuneTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  COMPONENT command NAMELINK_COMPONENT development INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS attune_runtime_shared EXPORT AttuneRuntimeTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  COMPONENT runtime NAMELINK_COMPONENT runtime INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_SOURCE_DIR}/include/attune/attune.h ${CMAKE_SOURCE_DIR}/include/attune/attune.hpp
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attune COMPONENT runtime)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/attune ${ATTUNE_OPTIONS}/include/attune
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development PATTERN attune.h EXCLUDE PATTERN attune.hpp EXCLUDE)

# find_package(Attune) has the targets of those components that are installed.
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/Attune)
install(EXPORT AttuneTargets NAMESPACE attune:: DESTINATION ${config} COMPONENT development)
install(EXPORT AttuneRuntimeTargets NAMESPACE attune:: DESTINATION ${config} COMPONENT runtime)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/AttuneConfig.cmake.in ${CMAKE_BINARY_DIR}/AttuneConfig.cmake
  INSTALL_DESTINATION ${config})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/AttuneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/AttuneConfig.cmake ${CMAKE_BINARY_DIR}/AttuneConfigVersion.cmake
  DESTINATION ${config} COMPONENT runtime)

# The folder may be moved as a whole.
file(RELATIVE_PATH ATTUNE_PREFIX_FROM_HERE ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(library attune attune_runtime)
  set(ATTUNE_LIBRARY ${library})
  configure_file(${CMAKE_SOURCE_DIR}/cmake/attune.pc.in ${CMAKE_BINARY_DIR}/${library}.pc @ONLY)
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/attune.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/attune_runtime.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
