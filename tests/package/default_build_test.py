"""A build that names no target makes programs and libraries alone, unless it is configured with tests."""
import os
import pathlib
import re
import tempfile
import unittest

from commands import run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INSTALLED = {"bin/attune", "bin/attune-server", "lib/attune/attune-worker", "lib/libattune.so", "lib/libattune_runtime.so"}


def made(*options):
    """The files that compilers and linkers would write into an empty build folder, by their paths in it."""
    with tempfile.TemporaryDirectory() as build:
        run(os.environ["CMAKE"], "--preset", "release", "-Wno-dev", "-DATTUNE_PAGE=OFF", *options, "-B", build, cwd=ROOT)
        return re.findall(r" -o ([^/\s]\S*)", run("ninja", "-C", build, "-t", "commands", "all"))


def linked(files):
    """The programs and shared libraries, without their versions."""
    return {re.sub(r"\.so[.\d]*$", ".so", path) for path in files if path.startswith(("bin/", "lib/", "examples/"))}


class DefaultBuildTest(unittest.TestCase):
    def test_is_what_is_installed(self):
        files = made()
        self.assertEqual(linked(files), INSTALLED)
        self.assertEqual([path for path in files if re.search("test|fuzz|benchmarks|examples", path)], [])

    def test_has_tests_benchmarks_and_examples_where_they_are_asked_for(self):
        programs = linked(made("-DATTUNE_TESTS=ON"))
        self.assertLessEqual(INSTALLED | {"bin/base_test", "bin/graph_fuzz", "bin/group_bench", "examples/example_run_model_c"},
                             programs)


if __name__ == "__main__":
    unittest.main()
