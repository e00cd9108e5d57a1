# The build's vocabulary: options, warnings, and one function for a folder of src/.

option(ATTUNE_TESTS "Build the tests, and the benchmarks and examples that they run" OFF)
option(ATTUNE_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(ATTUNE_PYTHON "Build the Python module, with the nanobind of Python_EXECUTABLE" OFF)
option(ATTUNE_PYTHON_SANITIZE "Build that module with sanitizers, and in it library and runtime" OFF)
option(ATTUNE_PCH "Use precompiled headers" ON)
option(ATTUNE_UNITY "Compile several sources of a target as one" ON)
set(ATTUNE_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize takes them")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# A build folder works wherever it is moved to, or mounted.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  if(ATTUNE_PCH)
    # Else ccache takes no compilation with a precompiled header, and each rebuild of one is another.
    list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros)
    add_compile_options("SHELL:$<$<COMPILE_LANGUAGE:CXX>:-Xclang -fno-pch-timestamp>")
  endif()
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow-all -Wmissing-prototypes -Wno-gnu-zero-variadic-macro-arguments)
# So that programs leave out what they do not call; tools/check_dead.py finds what none of them keeps.
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-fuse-ld=lld)
if(ATTUNE_SANITIZE)
  add_compile_options(-fsanitize=${ATTUNE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ATTUNE_SANITIZE})
endif()
if(ATTUNE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# attune_precompile(TARGET KIND [HEADER...])
#
# Lets a target use one of the two precompiled headers, KIND source or test, which every target shares. With more headers,
# which nearly all of its files include and which take long, the target gets one of its own.
# Include-what-you-use still holds: a build with ATTUNE_PCH=OFF has none.
function(attune_precompile target kind)
  if(NOT ATTUNE_PCH)
    return()
  endif()
  if(ARGN)
    target_precompile_headers(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled_${kind}.h ${ARGN})
    return()
  endif()
  if(NOT TARGET attune_precompiled_${kind})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled_${kind}.cc CONTENT "")
    add_library(attune_precompiled_${kind} OBJECT ${CMAKE_BINARY_DIR}/precompiled_${kind}.cc)
    target_link_libraries(attune_precompiled_${kind} PRIVATE $<$<STREQUAL:${kind},test>:GTest::gmock>)
    target_precompile_headers(attune_precompiled_${kind} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled_${kind}.h)
    if(kind STREQUAL test)
      attune_unoptimized(attune_precompiled_test)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM attune_precompiled_${kind})
  # Programs would get -fPIE, and the header of a library does not fit those.
  target_compile_options(${target} PRIVATE -fPIC)
endfunction()

# attune_unity(TARGET)
#
# Compiles sixteen sources as one, which takes a third of the time: the templates of the standard library, JSON, protobuf
# and GoogleTest, which all of them use, are compiled once.
function(attune_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ATTUNE_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# attune_unoptimized(TARGET)
#
# Compiles a test, or a program that only tests use, in half the time: what it calls is in the libraries, which are optimized.
function(attune_unoptimized target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# attune_test_sources(TARGET [HEADER...])
#
# How a program of unit tests is compiled; HEADER as in attune_precompile().
function(attune_test_sources target)
  attune_unity(${target})
  attune_unoptimized(${target})
  attune_precompile(${target} test ${ARGN})
endfunction()

# attune_test_as_avx2(NAME LABEL COMMAND...)
#
# The test NAME once more, on this machine as one with AVX2 alone. Where it is one already, it is skipped.
function(attune_test_as_avx2 name label)
  add_test(NAME ${name}_avx2 COMMAND ${CMAKE_SOURCE_DIR}/tests/as_avx2.sh ${ARGN})
  set_tests_properties(${name}_avx2 PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77)
endfunction()

# attune_proto(NAME FILE)
#
# Makes the static library attune_NAME_proto of a .proto file in the current folder of src/. Its header is included by its
# path below src/, as others are. The target attune_protos makes all of them.
function(attune_proto name file)
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  add_library(attune_${name}_proto STATIC ${file})
  protobuf_generate(TARGET attune_${name}_proto LANGUAGE cpp
                    PROTOC_OUT_DIR ${CMAKE_CURRENT_BINARY_DIR}/gen/${folder}
                    IMPORT_DIRS ${CMAKE_CURRENT_SOURCE_DIR})
  # SYSTEM: the generated code does not follow our warnings.
  target_include_directories(attune_${name}_proto SYSTEM PUBLIC ${CMAKE_CURRENT_BINARY_DIR}/gen)
  target_compile_options(attune_${name}_proto PRIVATE -w)
  target_link_libraries(attune_${name}_proto PUBLIC protobuf::libprotobuf-lite)
  if(NOT TARGET attune_protos)
    add_custom_target(attune_protos)
  endif()
  add_dependencies(attune_protos attune_${name}_proto)
endfunction()

# attune_grpc(NAME FILE)
#
# Likewise for a file with services, whose classes are in FILE.grpc.pb.h.
function(attune_grpc name file)
  attune_proto(${name} ${file})
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  protobuf_generate(TARGET attune_${name}_proto LANGUAGE grpc PLUGIN protoc-gen-grpc=${GRPC_PLUGIN}
                    GENERATE_EXTENSIONS .grpc.pb.h .grpc.pb.cc
                    PROTOC_OUT_DIR ${CMAKE_CURRENT_BINARY_DIR}/gen/${folder}
                    IMPORT_DIRS ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(attune_${name}_proto PUBLIC GRPC_USE_PROTO_LITE)
  target_link_libraries(attune_${name}_proto PUBLIC ${GRPC_LIBRARY} ${GPR_LIBRARY})
endfunction()

# attune_library(NAME [AS_AVX2] [DEPS ...] [LINK ...] [EXCLUDE ...] [PRECOMPILED ...] [TEST_PRECOMPILED ...] [ALONE ...])
#
# Makes the static library attune_NAME of every .cc in the current folder and below, and, from the
# files that end in _test.cc, the test program NAME_test. DEPS are other folders of src/, LINK
# foreign libraries, EXCLUDE subfolders (regular expressions) that are libraries of their own. AS_AVX2: what the
# tests see depends on the processor, and so they run twice. PRECOMPILED, TEST_PRECOMPILED: headers for attune_precompile().
#
# Several sources are compiled as one, see attune_unity(). ALONE: sources and tests whose private names others of the folder
# have, too.
function(attune_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "AS_AVX2" "" "DEPS;LINK;EXCLUDE;TEST_LINK;PRECOMPILED;TEST_PRECOMPILED;ALONE")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  foreach(pattern IN LISTS ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX ${pattern})
  endforeach()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM ARG_DEPS PREPEND attune_)

  add_library(attune_${name} STATIC ${sources})
  target_include_directories(attune_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(attune_${name} PUBLIC ${ARG_DEPS} ${ARG_LINK})
  attune_unity(attune_${name})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # What does without base does without abseil too.
  if("attune_base" IN_LIST ARG_DEPS)
    attune_precompile(attune_${name} source ${ARG_PRECOMPILED})
  endif()

  if(ATTUNE_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE attune_${name} ${ARG_TEST_LINK} GTest::gmock GTest::gtest_main)
    attune_test_sources(${name}_test ${ARG_TEST_PRECOMPILED})
    add_test(NAME ${name} COMMAND ${name}_test)
    set_tests_properties(${name} PROPERTIES LABELS fast)
    if(ARG_AS_AVX2)
      attune_test_as_avx2(${name} fast $<TARGET_FILE:${name}_test>)
    endif()
  endif()
endfunction()

# attune_own_heap(TARGET)  lets what is linked have mimalloc's heap.
function(attune_own_heap target)
  if(ATTUNE_SANITIZE)
    return()
  endif()
  target_link_libraries(${target} PRIVATE ${ATTUNE_MIMALLOC})
  target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src/programs/operator_new.cc)
endfunction()

# attune_program(TARGET)  a program that is installed: links LLVM statically, and what nobody calls is left out.
function(attune_program target)
  if(ATTUNE_SANITIZE)
    return()
  endif()
  set_target_properties(${target} PROPERTIES ATTUNE_STATIC_LLVM ON)
  target_link_options(${target} PRIVATE "-Wl,--gc-sections" "-Wl,--as-needed")
  attune_own_heap(${target})
endfunction()
