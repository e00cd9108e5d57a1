"""Libraries that are built from Debian's source packages, and how.

Debian has these as archives that no shared library takes (thread-locals of programs), with more behind them than is needed
(Kerberos, LDAP), or as shared libraries alone. Each is built of the version that is installed here, whose headers our own
sources are compiled with.
"""
import dataclasses

# -fPIC: for libattune.so. Debian's compiler builds them: clang names one constructor of abseil otherwise than g++, which
# has built Debian's gRPC.
CMAKE = """
build_with_cmake() {
  cmake -G Ninja -S . -B made -Wno-dev -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ \\
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF -DCMAKE_INSTALL_PREFIX="$OUT" -DCMAKE_INSTALL_LIBDIR=lib \\
    -DCMAKE_C_FLAGS="$FLAGS" -DCMAKE_CXX_FLAGS="$FLAGS" -DCMAKE_PREFIX_PATH="$OUT" "$@"
}
"""
FLAGS = "-ffunction-sections -fdata-sections"


@dataclasses.dataclass(frozen=True)
class Recipe:
    source: str       # Debian's source package
    package: str      # of which version: that of this installed package
    script: str       # for bash, in the unpacked sources; $OUT is build/deps, $JOBS the number of processors


RECIPES = [
    # Its headers are compared, since they say which types the library's interface has.
    Recipe("abseil", "libabsl-dev", """
build_with_cmake -DCMAKE_CXX_STANDARD=17
ninja -C made install
cmp "$OUT/include/absl/base/options.h" /usr/include/absl/base/options.h
"""),
    Recipe("protobuf", "libprotobuf-dev", """
build_with_cmake -Dprotobuf_BUILD_TESTS=OFF -Dprotobuf_BUILD_PROTOC_BINARIES=OFF
ninja -C made libprotobuf-lite
cp made/libprotobuf-lite.a "$OUT/lib"
"""),
    # Debian's source package leaves out the tables of Unicode, which are in unicode-data.
    Recipe("re2", "libre2-dev", """
make -j "$JOBS" REBUILD_TABLES=1 CXX=g++ CXXFLAGS="-O3 -fPIC -pthread -std=c++11 $FLAGS" obj/libre2.a
cp obj/libre2.a "$OUT/lib"
"""),
    Recipe("dmlc-core", "libdmlc-dev", """
build_with_cmake -DUSE_OPENMP=OFF
ninja -C made dmlc
cp made/libdmlc.a "$OUT/lib"
"""),
    Recipe("xgboost", "libxgboost-dev", """
build_with_cmake -DUSE_OPENMP=OFF -DBUILD_STATIC_LIB=ON -DDMLC_LIBRARY="$OUT/lib/libdmlc.a"
ninja -C made xgboost
cp "$(find . -name libxgboost.a | head -n 1)" "$OUT/lib"
"""),
    # For archives of PyTorch, which are stored or deflated, never encrypted.
    Recipe("libzip", "libzip-dev", """
build_with_cmake -DENABLE_{BZIP2,LZMA,ZSTD,OPENSSL,GNUTLS,MBEDTLS,COMMONCRYPTO}=OFF -DBUILD_{TOOLS,REGRESS,EXAMPLES,DOC}=OFF
ninja -C made install
"""),
    # Thread-locals that a library which is loaded late may have. The C library's malloc stays as it is.
    Recipe("mimalloc", "libmimalloc-dev", """
build_with_cmake -DMI_LOCAL_DYNAMIC_TLS=ON -DMI_OVERRIDE=OFF -DMI_BUILD_{SHARED,OBJECT,TESTS}=OFF -DMI_INSTALL_TOPLEVEL=ON
ninja -C made install
"""),
    Recipe("curl", "libcurl4-openssl-dev", """
build_with_cmake -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF -DHTTP_ONLY=ON -DCURL_USE_OPENSSL=ON -DCURL_CA_BUNDLE=none \\
  -DCURL_CA_PATH=none -DCURL_USE_{LIBSSH2,LIBSSH,LIBPSL,GSSAPI}=OFF -DUSE_{LIBIDN2,NGHTTP2,LIBRTMP}=OFF -DCURL_BROTLI=OFF \\
  -DCURL_ZSTD=OFF
ninja -C made install
"""),
    Recipe("fmtlib", "libfmt-dev", """
build_with_cmake -DFMT_TEST=OFF -DFMT_DOC=OFF
ninja -C made install
"""),
    Recipe("spdlog", "libspdlog-dev", """
build_with_cmake -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_EXAMPLE=OFF
ninja -C made install
"""),
    # For the server alone.
    Recipe("postgresql-15", "libpq-dev", """
CC=gcc CFLAGS="-O2 -fPIC $FLAGS" ./configure --prefix="$OUT" --with-openssl --without-{gssapi,ldap,readline,zlib,icu} -q
make -s -j "$JOBS" -C src/common
make -s -j "$JOBS" -C src/port
make -s -j "$JOBS" -C src/interfaces/libpq libpq.a
cp src/interfaces/libpq/libpq.a "$OUT/lib"
cp src/common/libpgcommon_shlib.a "$OUT/lib/libpgcommon.a"
cp src/port/libpgport_shlib.a "$OUT/lib/libpgport.a"
"""),
]

# Archives of Debian that take the addresses of stdin and stderr as programs do. They get names of ours for these
# (names_of_glibc.c).
WITH_STREAMS = ["jpeg", "png", "jansson"]

# Archives that are linked as Debian has them.
FROM_DEBIAN = ["grpc++", "grpc", "gpr", "upb", "address_sorting", "cares", "ssl", "crypto", "sqlite3", "yaml-cpp", "z",
               "zstd", "snappy", "cjose", "flatbuffers"]
