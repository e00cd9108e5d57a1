# cpack's configuration for the Debian package (tools/packages/deb.py), which has all that is installed in one: a program
# that tunes needs the compiler whole, and one that ships takes the runtime's single file from it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME attune)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler and tuner for trained neural networks")
set(CPACK_PACKAGE_DESCRIPTION
"Attune compiles a trained neural network (ONNX, TensorFlow, TensorFlow Lite,
exported PyTorch) into one file of native code for a processor, and finds
faster kernels by measuring.
.
This package has the program, the libraries for C and C++ programs with their
headers, and what find_package(Attune) and pkg-config read.")
set(CPACK_PACKAGE_VENDOR Attune)
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_PACKAGE_FILE_NAME attune)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/triggers)
# xz takes two minutes, for a third less; lintian refuses zstd.
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
