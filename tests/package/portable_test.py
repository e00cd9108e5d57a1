"""The portable packages in build/dist/portable/ (./do portable) ask for no more than old systems have. Where they were not made, this says
so and skips."""
import pathlib
import re
import subprocess
import tempfile
import unittest
import zipfile

from commands import run

DIST = pathlib.Path(__file__).resolve().parent.parent.parent / "build" / "dist" / "portable"
# The C library's parts, and the unwinder that all libraries of a process share.
ALLOWED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libresolv.so.2", "libgcc_s.so.1",
           "ld-linux-x86-64.so.2"}
OURS = {"libattune.so.0"}
# The C++ library is linked into all of them: its exception, and the licence that this is an exception to.
LICENCES = ["GCC RUNTIME LIBRARY EXCEPTION", "GNU GENERAL PUBLIC LICENSE"]
GLIBC, GLIBC_OF_RUNTIME = (2, 28), (2, 17)
MOST_WHEEL_BYTES, MOST_RUNTIME_BYTES = 35_000_000, 1_000_000


def portable_archives():
    """The packages of a portable build, by their kinds."""
    found = {"archive": list(DIST.glob("attune-*-linux-x86_64.tar.gz")), "runtime": list(DIST.glob("attune_runtime-*.whl")),
             "wheel": list(DIST.glob("attune_compiler-*manylinux_2_28*.whl"))}
    if not all(found.values()):
        raise unittest.SkipTest("build/dist/portable has no portable packages; ./do portable makes them")
    return {**found, "deb": list(DIST.glob("*.deb"))}


def unpack(path, folder):
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as file:
            file.extractall(folder)
    elif path.suffix == ".deb":
        run("dpkg-deb", "--extract", path, folder)
    else:
        run("tar", "--extract", "--file", path, "--directory", folder)


def elves(folder):
    """All programs and libraries in a folder."""
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


class PortableTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.archives = portable_archives()

    def check_elf(self, path, newest):
        dynamic = run("readelf", "--dynamic", "--wide", path)
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        self.assertLessEqual(needed, ALLOWED | OURS, path.name)
        self.assertNotIn("TEXTREL", dynamic, path.name)
        versions = run("readelf", "--version-info", "--wide", path)
        self.assertNotIn("GLIBCXX_", versions, path.name)
        asked = [tuple(map(int, found.split("."))) for found in re.findall(r"Name: GLIBC_([\d.]+)", versions)]
        self.assertTrue(asked, path.name)
        self.assertLessEqual(max(asked)[:2], newest, path.name)

    def test_every_program_and_library_runs_on_old_systems(self):
        for kind, paths in self.archives.items():
            for path in paths:
                with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                    unpack(path, folder)
                    found = list(elves(folder))
                    self.assertTrue(found or "libattune-dev" in path.name, path.name)
                    for elf in found:
                        is_runtime = kind == "runtime" or elf.name.startswith("libattune_runtime.so")
                        self.check_elf(elf, GLIBC_OF_RUNTIME if is_runtime else GLIBC)

    def test_wheels_are_for_all_pythons_and_small(self):
        names = sorted(path.name for path in self.archives["wheel"])
        self.assertEqual(len(names), 2, names)
        self.assertRegex(names[0], "-cp311-cp311-manylinux_2_28_x86_64.whl$")
        self.assertRegex(names[1], "-cp312-abi3-manylinux_2_28_x86_64.whl$")
        for path in self.archives["wheel"]:
            self.assertLess(path.stat().st_size, MOST_WHEEL_BYTES, path.name)
        for path in self.archives["runtime"]:
            self.assertRegex(path.name, "-py3-none-manylinux_2_17_x86_64|-py3-none-manylinux2014_x86_64")
            self.assertLess(path.stat().st_size, MOST_RUNTIME_BYTES, path.name)

    def test_every_package_has_the_licences_of_what_is_linked_in(self):
        for path in [*self.archives["wheel"], *self.archives["runtime"], *self.archives["archive"]]:
            with self.subTest(path.name), tempfile.TemporaryDirectory() as folder:
                unpack(path, folder)
                file, = pathlib.Path(folder).rglob("LICENCES" if path.suffix == ".gz" else "licences.txt")
                self.assertEqual([title for title in LICENCES if title not in file.read_text()], [])

    def test_libraries_export_the_c_interface_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            unpack(self.archives["archive"][0], folder)
            for name in ("libattune.so.0", "libattune_runtime.so.0"):
                library = next(pathlib.Path(folder).rglob(name))
                exported = subprocess.run(["nm", "--dynamic", "--defined-only", library], capture_output=True, text=True,
                                          check=True).stdout.split("\n")
                for line in filter(None, exported):
                    self.assertRegex(line.split()[-1], "^attune_", name)


if __name__ == "__main__":
    unittest.main()
