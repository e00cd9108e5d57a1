"""The wheel in build/dist/ as a user gets it: installed by its file into an environment of its own."""
import os
import pathlib
import subprocess
import tempfile
import unittest

from commands import run
from environment import ROOT, make_environment, wheel

MOST_BYTES = {"manylinux_2_36_x86_64": 100_000_000,  # PyPI's limit
              "manylinux_2_28_x86_64": 35_000_000}   # for all systems


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.wheel = wheel()
        cls.python = make_environment(cls.folder.name + "/environment")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def in_environment(self, *arguments):
        """Runs Python where the package is installed, and the tree's own package is not found."""
        return run(self.python, *arguments, cwd=self.folder.name,
                   env={**os.environ, "MYPY_CACHE_DIR": self.folder.name + "/mypy"})

    def test_all_of_pytest_passes(self):
        print(self.in_environment("-m", "pytest", "-q", "-p", "no:cacheprovider", ROOT / "python" / "tests"))

    def test_types_hold(self):
        self.in_environment("-m", "mypy", "--strict", "--allow-any-generics", "-p", "attune")

    def test_is_small_enough(self):
        platform = self.wheel.name.removesuffix(".whl").rsplit("-", 1)[1].split(".")[-1]
        print(f"tested is a wheel for {platform}")
        self.assertLess(self.wheel.stat().st_size, MOST_BYTES[platform])

    def test_the_command_is_there(self):
        command = self.python.parent / "attune"
        said = {run(command, "--version"), self.in_environment("-m", "attune", "--version"),
                "attune " + self.in_environment("-c", "import attune; print(attune.__version__)")}
        self.assertEqual(len(said), 1, said)
        run(command, "zoo", "squeezenet1_1", "-o", self.folder.name + "/net.onnx")
        run(command, "tune", self.folder.name + "/net.onnx", "--trials", "4", "--records", self.folder.name + "/records.db")

    def test_another_project_of_the_name_is_refused(self):
        folder = pathlib.Path(self.folder.name) / "shadow"
        (folder / "attune").mkdir(parents=True)
        (folder / "attune" / "__init__.py").touch()
        done = subprocess.run([self.python.parent / "attune"], capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(folder)})
        self.assertEqual(done.returncode, 1)
        self.assertIn("another project has the same import name", done.stderr)
        site = pathlib.Path(self.in_environment("-c", "import attune; print(attune.__path__[0])").strip()).parent
        other = site / "attune-1.0.dist-info"
        other.mkdir()
        try:
            done = subprocess.run([self.python, "-c", "import attune"], capture_output=True, text=True, check=False)
        finally:
            other.rmdir()
        self.assertIn("pip uninstall attune attune-compiler", done.stderr)

    def test_only_the_module_is_exported(self):
        module = self.in_environment("-c", "import attune._core; print(attune._core.__file__)").strip()
        symbols = run("nm", "--dynamic", "--defined-only", module).split("\n")
        self.assertEqual([line.split()[-1] for line in symbols if line], ["PyInit__core"])

    def test_is_imported_before_and_after_others(self):
        for first, second in (("attune", "onnxruntime"), ("onnxruntime", "attune")):
            code = f"import {first}, {second}, attune; attune.zoo('squeezenet1_1').bench(0.01)"
            self.in_environment("-c", code)

    def in_environment_with_tools(self, *arguments):
        """The same for modules of tools/, with the program of the build."""
        return run(self.python, *arguments, cwd=self.folder.name, env={**os.environ, "PYTHONPATH": str(ROOT / "tools")})

    def test_wrong_arguments_raise_exceptions(self):
        said = self.in_environment_with_tools("-m", "attackers.misuse_python", "--calls", "10")
        self.assertIn("10 calls, 0 crashes, 0 wrong exceptions", said)

    def test_figures_are_made(self):
        said = self.in_environment_with_tools("-m", "figures.python_figures", "--network", "squeezenet1_1", "--runs", "2",
                                              "--seconds", "0.05", "--turns", "1")
        for figure in ("overhead: ", "memory: ", "threads: "):
            self.assertIn(figure, said)


if __name__ == "__main__":
    unittest.main()
