"""An installed Attune as another project sees it: find_package(), pkg-config, headers, the library and its workers."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from commands import run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "docs" / "examples" / "package"
BUILD, CMAKE, CC, CXX = (os.environ[name] for name in ("BUILD", "CMAKE", "CC", "CXX"))


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        cls.prefix = cls.work / "prefix"
        run(CMAKE, "--install", BUILD, "--prefix", cls.prefix, "--strip")
        cls.library = next(cls.prefix.rglob("libattune.so")).parent
        cls.model = cls.work / "model.onnx"
        run(cls.prefix / "bin" / "attune", "zoo", "squeezenet1_1", "-o", cls.model)
        run(CMAKE, "-S", EXAMPLE, "-B", cls.work / "build", f"-DCMAKE_PREFIX_PATH={cls.prefix}",
            f"-DCMAKE_CXX_COMPILER={CXX}", "-DCMAKE_BUILD_TYPE=Release")
        run(CMAKE, "--build", cls.work / "build")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def tune(self, *arguments):
        """Runs the example."""
        return subprocess.run([self.work / "build" / "tune_model", *map(str, arguments)], capture_output=True, text=True)

    def test_a_program_tunes_compiles_and_runs(self):
        artifact = self.work / "model.atn"
        tuned = self.tune(self.model, artifact, 8)
        self.assertEqual(tuned.returncode, 0, tuned.stderr)
        self.assertRegex(tuned.stdout, r"[0-9]+ trials, [0-9.]+ ms as it was, [0-9.]+ ms now")
        self.assertIn("as the reference has it", tuned.stdout)
        self.assertRegex(tuned.stderr, "[0-9]+ trials")
        self.assertRegex(run(self.work / "build" / "run_artifact", artifact), "4000 bytes")

    def test_errors_are_sentences(self):
        lost = self.tune(self.work / "none.onnx", self.work / "none.atn")
        self.assertEqual(lost.returncode, 1)
        self.assertIn("none.onnx", lost.stderr)

    def test_a_worker_of_another_build_is_refused(self):
        others = self.work / "others"
        shutil.copytree(self.prefix, others, symlinks=True)
        own = run(self.work / "build" / "tune_model", "--build-id").strip().encode()
        library = next(others.rglob("libattune.so")).resolve()
        code = library.read_bytes()
        self.assertIn(own, code)
        library.write_bytes(code.replace(own, b"0" * len(own)))
        # A worker beside this program that is of the other build.
        program = self.work / "build" / "tune_model"
        worker = program.parent / "attune-worker"
        worker.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={library.parent} exec {next(others.rglob("attune-worker"))} "$@"\n')
        worker.chmod(0o755)
        try:
            tuned = self.tune(self.model, self.work / "other.atn", 8)
        finally:
            worker.unlink()
        self.assertEqual(tuned.returncode, 1)
        self.assertIn("another build", tuned.stderr)

    def test_what_is_for_wheels_is_not_installed(self):
        self.assertEqual(sorted(path.name for path in self.prefix.iterdir()), ["bin", "include", "lib"])

    def test_headers_need_the_standard_library_alone(self):
        headers = [path for path in (self.prefix / "include" / "attune").rglob("*") if path.is_file()]
        self.assertGreaterEqual(len(headers), 3)
        for header in headers:
            for included in re.findall(r'#include [<"]([^>"]+)[>"]', header.read_text()):
                self.assertRegex(included, r"^(attune/.*|[a-z_]+(\.h)?)$", header.name)

    def test_headers_for_cpp_ask_for_cpp20(self):
        for header in ("attune.hpp", "compiler.hpp", "options.hpp", "tensor.hpp"):
            compiled = subprocess.run([CXX, "-std=c++17", "-fsyntax-only", "-x", "c++", self.prefix / "include/attune" / header,
                                       "-I", self.prefix / "include"], capture_output=True, text=True)
            self.assertIn("Attune is used from C++20 or newer", compiled.stderr)

    def test_a_program_may_have_a_cpp_runtime_of_its_own(self):
        program = self.work / "own_runtime"
        run(CXX, "-std=c++20", "-static-libstdc++", "-I", self.prefix / "include", EXAMPLE / "tune_model.cc", "-L", self.library,
            "-lattune", f"-Wl,-rpath,{self.library}", "-o", program)
        tuned = subprocess.run([program, self.model, self.work / "own.atn", "1"], capture_output=True, text=True)
        self.assertIn("as the reference has it", tuned.stdout, tuned.stderr)
        lost = subprocess.run([program, self.work / "none.onnx", self.work / "none.atn"], capture_output=True, text=True)
        self.assertEqual((lost.returncode, lost.stderr), (1, f"{self.work}/none.onnx: cannot open: No such file or directory\n"))

    def test_a_program_in_c_compiles_a_model(self):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.library / "pkgconfig"), "LD_LIBRARY_PATH": str(self.library)}
        flags = run("pkg-config", "--cflags", "--libs", "attune", env=environment).split()
        run(CC, "-std=c11", "-pedantic-errors", ROOT / "docs/examples/compile_model.c", *flags, "-o", self.work / "compile_model")
        said = run(self.work / "compile_model", self.model, self.work / "by_c.atn", env=environment)
        self.assertRegex(said, "as the reference has it(.|\n)*f32, 4000 bytes")

    def test_pkg_config_finds_both_libraries(self):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.library / "pkgconfig")}
        for library, source in (("attune", "tune_model.cc"), ("attune_runtime", "run_artifact.cc")):
            flags = run("pkg-config", "--cflags", "--libs", library, env=environment).split()
            self.assertIn(f"-l{library}", flags)
            run(CXX, "-std=c++20", "-fsyntax-only", EXAMPLE / source, *[flag for flag in flags if flag[:2] == "-I"])

    def test_the_library_exports_its_interface_alone(self):
        symbols = run("nm", "--dynamic", "--defined-only", self.library / "libattune.so").splitlines()
        names = [line.split(maxsplit=2)[2] for line in symbols]
        self.assertIn("attune_session_run", names)
        for name in names:
            self.assertRegex(name, "^attune_")


if __name__ == "__main__":
    unittest.main()
