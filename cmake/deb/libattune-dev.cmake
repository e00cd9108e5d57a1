# The package `libattune-dev`: what C and C++ programs that compile networks are built with.
set(CPACK_PACKAGE_NAME libattune-dev)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler for trained neural networks, as a library")
set(CPACK_PACKAGE_DESCRIPTION
"Attune compiles a trained neural network into native code for a processor, and
finds faster kernels by measuring.
.
This package has the headers for programs that do so, and what
find_package(Attune) and pkg-config read.")
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
