"""Who may do what with the libraries that are linked into ours, by the copyright files of Debian's packages."""
import pathlib

from packages.release import Failed

DOCUMENTS = pathlib.Path("/usr/share/doc")
# Packages whose code is in the programs and libraries of a portable build, or, of header files, of any.
PACKAGES = ["llvm-19-dev", "libabsl-dev", "libprotobuf-dev", "libre2-dev", "libgrpc++-dev", "libc-ares-dev", "libssl-dev",
            "libsqlite3-dev", "libyaml-cpp-dev", "libjpeg62-turbo-dev", "libpng-dev", "zlib1g-dev", "libzstd-dev", "libsnappy-dev",
            "libcjose-dev", "libxgboost-dev", "libzip-dev", "libmimalloc-dev", "libcurl4-openssl-dev", "libpq-dev",
            "libfmt-dev", "libspdlog-dev", "nlohmann-json3-dev", "libcli11-dev", "libflatbuffers-dev", "libboost1.74-dev",
            "libstdc++-12-dev"]


def licences() -> str:
    """The copyright files, one after the other."""
    parts = []
    for package in PACKAGES:
        path = DOCUMENTS / package / "copyright"
        if not path.exists():
            raise Failed(f"{path}: is missing; install the package {package}")
        parts.append(f"==== {package} ====\n\n{path.read_text(errors='replace').strip()}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(licences())
