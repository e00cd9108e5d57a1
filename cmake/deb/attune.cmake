# The package `attune`: all but the server's program. A program that tunes needs the compiler whole, and one that ships
# takes the runtime's single file from it.
set(CPACK_PACKAGE_NAME attune)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler and tuner for trained neural networks")
set(CPACK_PACKAGE_DESCRIPTION
"Attune compiles a trained neural network (ONNX, TensorFlow, TensorFlow Lite,
exported PyTorch) into one file of native code for a processor, and finds
faster kernels by measuring.
.
This package has the program, the libraries for C and C++ programs with their
headers, and what find_package(Attune) and pkg-config read.")
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/triggers)
