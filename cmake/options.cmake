# Makes C++ and Python of src/options/options.toml, in ATTUNE_OPTIONS: include/ and options/ for the compiler, python/ for the
# package. That happens when the build is configured, and again once the table or its generator has changed.

find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
set(ATTUNE_OPTIONS ${CMAKE_BINARY_DIR}/options)
file(GLOB generator CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/options/generator/*.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/src/options/options.toml ${CMAKE_SOURCE_DIR}/src/options/generate.py ${generator})
execute_process(COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1
  ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/src/options/generate.py ${ATTUNE_OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
