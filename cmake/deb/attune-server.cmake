# The package `attune-server`: the program that serves a fleet and the jobs of many.
set(CPACK_PACKAGE_NAME attune-server)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "server for fleets of devices and tuning jobs")
set(CPACK_PACKAGE_DESCRIPTION
"Attune compiles trained neural networks into native code, and finds faster
kernels by measuring.
.
This package has the server: it gives devices to those who measure on them,
runs the jobs of many tenants, and has a REST interface and a web page. The
commands server, up, down, backup and restore of the program attune start it.")
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "attune (= ${CPACK_PACKAGE_VERSION})")
