"""The sources in build/dist/ that others build a wheel from."""
import os
import pathlib
import sys
import tarfile
import tempfile
import unittest

from commands import run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

NEEDED = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "benchmarks/", "cmake/", "docs/examples/",
          "include/", "pyproject.toml", "python/", "src/", "tools/setup.sh")


class SdistTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        archive, = (ROOT / "build" / "dist").glob("attune_compiler-*.tar.gz")
        with tarfile.open(archive) as file:
            file.extractall(cls.folder.name, filter="data")
        cls.sources, = pathlib.Path(cls.folder.name).iterdir()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_has_all_that_a_build_needs_and_nothing_else(self):
        inside = {str(path.relative_to(self.sources)) for path in self.sources.rglob("*") if path.is_file()}
        tracked = run("git", "-C", ROOT, "-c", "safe.directory=*", "ls-files").splitlines()
        self.assertEqual([path for path in tracked if path.startswith(NEEDED) and path not in inside], [])
        self.assertEqual([path for path in inside if not path.startswith((*NEEDED, "PKG-INFO"))], [])

    def test_a_build_begins(self):
        cmake, build = os.environ["CMAKE"], self.folder.name + "/build"
        run(cmake, "--preset", "release", "-Wno-dev", "-DATTUNE_PYTHON=ON",
            f"-DPython_EXECUTABLE={sys.executable}", "-B", build, cwd=self.sources)
        targets = run(cmake, "--build", build, "--target", "help")
        self.assertIn("attune_python_stub", targets)


if __name__ == "__main__":
    unittest.main()
