"""Who may do what with the libraries that are linked into ours, by the copyright files of Debian's packages.

    python -m packages.licences

prints the terms of all of them.
"""
import pathlib
import re
from collections.abc import Sequence

from packages.release import Failed

DOCUMENTS = pathlib.Path("/usr/share/doc")
COMMON = pathlib.Path("/usr/share/common-licenses")
# Packages whose code is in the programs and libraries of a portable build, or, of header files, of any.
PACKAGES = ["llvm-19-dev", "libabsl-dev", "libprotobuf-dev", "libre2-dev", "libgrpc++-dev", "libc-ares-dev", "libssl-dev",
            "libsqlite3-dev", "libyaml-cpp-dev", "libjpeg62-turbo-dev", "libpng-dev", "zlib1g-dev", "libzstd-dev", "libsnappy-dev",
            "libcjose-dev", "libxgboost-dev", "libzip-dev", "libmimalloc-dev", "libcurl4-openssl-dev", "libpq-dev",
            "libfmt-dev", "libspdlog-dev", "nlohmann-json3-dev", "libcli11-dev", "libflatbuffers-dev", "libboost1.74-dev",
            "libstdc++-12-dev"]
# The same for a portable libattune_runtime.so alone.
PACKAGES_OF_RUNTIME = ["libstdc++-12-dev"]


def part(title: object, path: pathlib.Path) -> str:
    return f"==== {title} ====\n\n{path.read_text(errors='replace').strip()}\n"


def licences(packages: Sequence[str] = PACKAGES) -> str:
    """The copyright files, one after the other."""
    parts = []
    for package in packages:
        path = DOCUMENTS / package / "copyright"
        if not path.exists():
            raise Failed(f"{path}: is missing; install the package {package}")
        parts.append(part(package, path))
    return "\n".join(parts)


def whole_licences(packages: Sequence[str] = PACKAGES) -> str:
    """The same for any system: the licences that these files only name, by their place in a Debian, follow."""
    files = licences(packages)
    named = {(COMMON / name).resolve() for name in re.findall(rf"{COMMON}/([\w.-]*\w)", files)}
    return "\n".join([files, *(part(path, path) for path in sorted(named))])


if __name__ == "__main__":
    print(whole_licences())
