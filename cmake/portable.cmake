# ATTUNE_PORTABLE: links what runs on every Linux with glibc 2.28, for wheel, Debian packages and tarball. `./do deps` has to
# have made build/deps: archives of all libraries, and the names of that glibc. docs/decisions/portable.md.
option(ATTUNE_PORTABLE "Link portable binaries, with the archives in build/deps" OFF)
set(ATTUNE_MIMALLOC mimalloc)
if(NOT ATTUNE_PORTABLE)
  return()
endif()

set(deps ${CMAKE_SOURCE_DIR}/build/deps)
if(NOT EXISTS ${deps}/stamps/complete)
  message(FATAL_ERROR "${deps} is not complete: run ./do deps")
endif()
list(PREPEND CMAKE_PREFIX_PATH ${deps})
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(OPENSSL_USE_STATIC_LIBS ON)
set(ATTUNE_MIMALLOC mimalloc-static)

# Of symbols that libgcc_s itself wants, this machine's C library has all. Compiled is with this machine's headers; the sysroot is for the linker alone. Of a library that is named with -l, it finds
# what is in build/deps, and of the C library what is in the sysroot.
set(portable "--sysroot=${deps}/sysroot --gcc-install-dir=/usr/lib/gcc/x86_64-linux-gnu/12 -static-libstdc++ -L${deps}/lib \
-Wl,--allow-shlib-undefined")
foreach(kind EXE SHARED MODULE)
  string(APPEND CMAKE_${kind}_LINKER_FLAGS " ${portable}")
endforeach()
# What archives need of others, wherever those come from; and at the end the C library.
file(GLOB abseil ${deps}/lib/libabsl_*.a)
list(JOIN abseil " " abseil)
set(CMAKE_CXX_STANDARD_LIBRARIES "${abseil} -lgrpc -lgpr -lupb -laddress_sorting -lcares -lre2 -ldmlc -lpgcommon -lpgport -ljansson \
-lfmt -lssl -lcrypto -lz -lzstd -lnames_of_glibc -Wl,--as-needed -lpthread -ldl -lrt -lresolv -lm")

# attune_link_archive(TARGET NAME)  has a target that a package of Debian describes as a shared library stand for its archive.
function(attune_link_archive target name)
  if(NOT TARGET ${target})
    add_library(${target} UNKNOWN IMPORTED GLOBAL)
  endif()
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${deps}/lib/lib${name}.a)
  foreach(configuration NONE RELEASE RELWITHDEBINFO NOCONFIG)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} ${deps}/lib/lib${name}.a)
  endforeach()
endfunction()
