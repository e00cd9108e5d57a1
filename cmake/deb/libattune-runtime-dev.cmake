# The package `libattune-runtime-dev`: what runs compiled networks, in one small library without a compiler.
set(CPACK_PACKAGE_NAME libattune-runtime-dev)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs compiled neural networks, as a library")
set(CPACK_PACKAGE_DESCRIPTION
"Attune compiles a trained neural network into one file of native code for a
processor.
.
This package has the library that loads and runs such files, which programs
may ship, its headers, and what find_package(Attune) and pkg-config read.")
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/triggers)
