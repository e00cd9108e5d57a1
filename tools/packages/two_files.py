"""Writes the runtime as two files that a program compiles with its own sources: attune_runtime.cc and attune.h.

    python -m packages.two_files FOLDER
"""
import pathlib
import re
import shutil
import sys

from packages.release import ROOT, exit_status

SOURCE = ROOT / "src"
# As the libraries attune_artifact_reader and attune_runtime have them.
PARTS = [f"artifact/{name}.cc" for name in ("checksum", "expand", "extents", "open_program", "reader", "signature", "size_code",
                                            "validate", "validate_open", "validate_program")]
INCLUDE = re.compile(r'^#include ([<"])([^>"]+)[>"].*$')
GUARD = re.compile(r"^#(ifndef|define|endif).*\b\w+_H_$")
HEAD = """\
// The runtime of Attune, in one file: runs what `attune compile` has compiled. Compile it by GCC 11, Clang 14 or later:
//
//   c++ -std=c++20 -O2 -pthread -c attune_runtime.cc
//
// The interface, and how it is used, is in attune.h. Attune {version}, Apache License 2.0.
"""


# An attribute for sanitizers, which GCC does not know.
QUIET = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wattributes"
#endif
"""


class Amalgam:
    """Sources and the headers of ours that they include, each once, after the headers of the standard library."""

    def __init__(self) -> None:
        self._seen: set[pathlib.Path] = set()
        self.standard: set[str] = set()
        self.lines: list[str] = []

    def add(self, path: pathlib.Path) -> None:
        if path in self._seen:
            return
        self._seen.add(path)
        body: list[str] = []
        for line in path.read_text().splitlines():
            found = INCLUDE.match(line)
            if found is None:
                if not (path.suffix == ".h" and GUARD.match(line)):
                    body.append(line)
            elif found[1] == "<":
                self.standard.add(found[2])
            elif found[2] != "attune/attune.h":
                self.add(SOURCE / found[2])
        self.lines += [f"\n// {path.relative_to(SOURCE)}", *body]


def runtime_sources() -> list[pathlib.Path]:
    own = sorted((SOURCE / "runtime").glob("*.cc"))
    return [SOURCE / part for part in PARTS] + [path for path in own if not path.name.endswith("_test.cc")]


def write_two_files(folder: pathlib.Path, version: str) -> None:
    amalgam = Amalgam()
    for path in runtime_sources():
        amalgam.add(path)
    folder.mkdir(parents=True, exist_ok=True)
    head = [HEAD.format(version=version), QUIET, f'#define ATTUNE_VERSION "{version}"',
            *[f"#include <{name}>" for name in sorted(amalgam.standard)], '\n#include "attune.h"']
    (folder / "attune_runtime.cc").write_text("\n".join(head + amalgam.lines) + "\n")
    shutil.copy(ROOT / "include" / "attune" / "attune.h", folder)


def version_of_sources() -> str:
    found = re.search(r"^project\(attune VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


if __name__ == "__main__":
    sys.exit(exit_status(lambda: write_two_files(pathlib.Path(sys.argv[1]), version_of_sources())))
