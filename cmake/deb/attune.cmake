# The package `attune`: the compiler's program, with the library that has its code, and its workers.
set(CPACK_PACKAGE_NAME attune)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler and tuner for trained neural networks")
set(CPACK_PACKAGE_DESCRIPTION
"Attune compiles a trained neural network (ONNX, TensorFlow, TensorFlow Lite,
exported PyTorch) into one file of native code for a processor, and finds
faster kernels by measuring.
.
This package has the program.")
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/triggers)
