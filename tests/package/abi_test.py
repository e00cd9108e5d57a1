"""The binary interface of the two libraries: what it is, as libabigail describes it, is in interface/.

    abi_test.py             compares the headers and the libraries with the descriptions
    abi_test.py --renew     writes the descriptions, after a change on purpose

A release build has no debug information. So the functions that the headers declare are compiled with it, empty, and the
result is described; the compiler has checked that the libraries define them as the headers declare them.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from commands import run

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "include"
# The headers of each library. The compiler's library has the runtime's functions, too, which are described once.
RUNTIME = ["attune.h"]
HEADERS = {"libattune_runtime": RUNTIME, "libattune": ["tensor.h", "options.h", "results.h", "compiler.h"]}
DECLARATION = re.compile(r"^ATTUNE_EXPORT ([^;]*?(\w+)\([^;]*\));", re.MULTILINE)
WITHOUT_PLACES = ["--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed", "--no-architecture",
                  "--no-parameter-names"]
RENEW = "if this is on purpose, write the new description by `python3 tests/package/abi_test.py --renew`, and add to CHANGELOG.md"


def declarations(headers):
    """(declaration, name) of each function."""
    return [found for header in headers
            for found in DECLARATION.findall((INCLUDE / "attune" / header).read_text())]


def describe(library, folder):
    """The description of the interface as a file in the folder."""
    source, binary, description = (folder / f"{library}.{end}" for end in ("c", "so", "abi"))
    functions = [f"{declaration} {{ __builtin_trap(); }}\n" for declaration, _ in declarations(HEADERS[library])]
    source.write_text(f"#include <attune/{HEADERS[library][-1]}>\n" + "".join(functions))
    run(os.environ.get("CC", "cc"), "-g", "-shared", "-fPIC", f"-I{INCLUDE}", source, "-o", binary)
    run("abidw", *WITHOUT_PLACES, "--short-locs", binary, "--out-file", description)
    return description


# The programs attune and attune-worker call these, which are of the same build as the library.
OF_PROGRAMS = {"attune_command_main", "attune_worker_main"}


class AbiTest(unittest.TestCase):
    def test_structs_enums_and_functions_are_as_described(self):
        for library in HEADERS:
            with self.subTest(library), tempfile.TemporaryDirectory() as folder:
                made = describe(library, pathlib.Path(folder))
                compared = subprocess.run(["abidiff", "--no-show-locs", "--no-architecture", HERE / "interface" / made.name, made],
                                          capture_output=True, text=True)
                self.assertEqual(compared.returncode, 0, f"{compared.stdout}{compared.stderr}\n{RENEW}")

    def test_libraries_export_what_headers_declare(self):
        for library in HEADERS:
            path = pathlib.Path(os.environ["LIBRARIES"]) / f"{library}.so"
            symbols = run("nm", "--dynamic", "--defined-only", path).splitlines()
            declared = {name for _, name in declarations({*RUNTIME, *HEADERS[library]})}
            exported = {line.split()[-1] for line in symbols}
            self.assertEqual(exported - OF_PROGRAMS, declared, library)


def renew():
    with tempfile.TemporaryDirectory() as folder:
        for library in HEADERS:
            made = describe(library, pathlib.Path(folder))
            (HERE / "interface" / made.name).write_bytes(made.read_bytes())


if __name__ == "__main__":
    if sys.argv[1:] == ["--renew"]:
        renew()
    else:
        unittest.main()
