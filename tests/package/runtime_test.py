"""The runtime as a package of Python, and as two files that others compile."""
import os
import pathlib
import sys
import tempfile
import unittest

import numpy
from commands import run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ATTUNE, CXX = pathlib.Path(os.environ["ATTUNE"]), os.environ["CXX"]
sys.path += [str(ROOT / "python"), str(ROOT / "tools")]

import attune_runtime  # noqa: E402
from attune_runtime import _c  # noqa: E402
from packages.runtime_wheel import write_licences  # noqa: E402
from packages.two_files import version_of_sources, write_two_files  # noqa: E402

_c.path = ATTUNE.parents[1] / "lib" / "libattune_runtime.so"


class RuntimeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.artifact = cls.folder / "net.atn"
        model = cls.folder / "net.onnx"
        run(ATTUNE, "zoo", "squeezenet1_1", "-o", model)
        run(ATTUNE, "compile", model, "-o", cls.artifact)

    def test_runs_as_the_command_does(self):
        model = attune_runtime.Model(self.artifact, read_whole=True)
        self.assertEqual([(info.name, info.dtype, info.shape) for info in model.inputs], [("input", "f32", (1, 3, 224, 224))])
        image = numpy.random.default_rng(0).standard_normal((1, 3, 224, 224), dtype=numpy.float32)
        numpy.save(self.folder / "image.npy", image)
        run(ATTUNE, "run", self.artifact, "--input", self.folder / "image.npy", "-o", self.folder / "outputs")
        expected = numpy.load(next((self.folder / "outputs").glob("*.npy")))
        session = model.session(threads=2)
        del model  # the session keeps it
        for _ in range(2):
            numpy.testing.assert_array_equal(session.run({"input": image})["output"], expected)

    def test_errors_are_sentences(self):
        session = attune_runtime.Model(self.artifact).session()
        for inputs, said in (({}, "the network's inputs are input, not none"),
                             ({"input": numpy.zeros((1, 3, 224, 224))}, "input is of float32, not float64"),
                             ({"input": numpy.zeros((1, 3, 9, 9), numpy.float32)}, "it takes input=1x3x224x224")):
            with self.assertRaisesRegex(attune_runtime.Error, said):
                session.run(inputs)
        with self.assertRaisesRegex(attune_runtime.Error, "none.atn: cannot be read"):
            attune_runtime.Model(self.folder / "none.atn")
        with self.assertRaisesRegex(attune_runtime.Error, "net.atn"):
            attune_runtime.Model(self.artifact, sha256="0" * 64)

    def test_the_wheel_has_the_licences_of_all_that_is_inside(self):
        folder = self.folder / "licenses"
        write_licences(folder)
        self.assertIn("Apache License", (folder / "LICENSE").read_text())
        said = (folder / "licences.txt").read_text()
        titles = ["==== libstdc++-12-dev ====", "GCC RUNTIME LIBRARY EXCEPTION", "GNU GENERAL PUBLIC LICENSE"]
        self.assertEqual([title for title in titles if title not in said], [])

    def test_two_files_are_all_that_a_program_needs(self):
        folder = self.folder / "two"
        write_two_files(folder, version_of_sources())
        (folder / "attune").symlink_to(folder)  # the example includes attune/attune.h
        run(CXX, "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-c", folder / "attune_runtime.cc", "-o", folder / "runtime.o")
        run("cc", "-I", folder, "-c", ROOT / "docs" / "examples" / "run_model.c", "-o", folder / "example.o")
        run(CXX, folder / "example.o", folder / "runtime.o", "-pthread", "-ldl", "-o", folder / "example")
        self.assertRegex(run(folder / "example", self.artifact, "2"), r"(?s)output: f32\[1,1000\].* ms")


if __name__ == "__main__":
    unittest.main()
