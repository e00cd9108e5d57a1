"""tools/check_dead.py on a project of two files."""
import contextlib
import io
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

import check_dead

LIBRARY = """
#include "thing.h"
namespace attune {
int Called() { return 1; }
int Inlined() { return 2; }
int CallsInlined() { return Inlined() + Called(); }
int OnlyTested() { return 3; }
int Forgotten() { return 4; }
int Excepted() { return 5; }
Thing::Thing() {}
int Thing::Method() const { return 6; }
int Thing::Unused() const { return 7; }
}  // namespace attune
"""
HEADER = """
namespace attune {
int Called();
int Inlined();
int CallsInlined();
int OnlyTested();
int Forgotten();
int Excepted();
struct Thing {
  Thing();
  int Method() const;
  int Unused() const;
};
}  // namespace attune
"""
PROGRAM = '#include "thing.h"\nint main() { return attune::CallsInlined() + attune::Thing().Method(); }\n'


class CheckDeadTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in {"src/thing/thing.h": HEADER, "src/thing/thing.cc": LIBRARY, "src/thing/main.cc": PROGRAM,
                           "src/thing/thing_test.cc": '#include "thing.h"\nint x = attune::OnlyTested();\n'}.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        objects = self.root / "build/src/thing/CMakeFiles/attune_thing.dir"
        objects.mkdir(parents=True)
        (self.root / "build/bin").mkdir()
        compiler = ["clang++-19", "-O2", "-fPIC", "-ffunction-sections"]
        source = self.root / "src/thing"
        subprocess.run([*compiler, "-c", source / "thing.cc", "-o", objects / "thing.cc.o"], check=True)
        subprocess.run([*compiler, "-fuse-ld=lld", "-Wl,--gc-sections", source / "main.cc", objects / "thing.cc.o",
                        "-o", self.root / "build/bin/attune"], check=True)

    def check(self, exceptions):
        said = io.StringIO()
        with (mock.patch.multiple(check_dead, ROOT=self.root, PROGRAMS=("bin/attune",), EXCEPTIONS=exceptions),
              contextlib.redirect_stdout(said)):
            code = check_dead.main([str(self.root / "build")])
        return code, said.getvalue().splitlines()

    def test_finds_what_no_program_calls(self):
        code, lines = self.check({"Excepted": "it may stay"})
        self.assertEqual(code, 1)
        self.assertEqual(lines, [
            "src/thing/thing.cc: no program calls attune::Forgotten(); nothing else does",
            "src/thing/thing.cc: no program calls attune::OnlyTested(); tests name it: src/thing/thing_test.cc",
            "src/thing/thing.cc: no program calls attune::Thing::Unused() const; nothing else does"])

    def test_knows_what_is_compiled_as_one(self):
        other = self.root / "src/thing/other.cc"
        other.write_text('#include "thing.h"\nint More() { return attune::Forgotten(); }\n')
        objects = self.root / "build/src/thing/CMakeFiles/attune_thing.dir"
        (objects / "Unity").mkdir()
        unity = objects / "Unity/unity_0_cxx.cxx"
        unity.write_text(f'#include "{self.root}/src/thing/thing.cc"\n#include "{other}"\n')
        (objects / "thing.cc.o").rename(objects / "Unity/unity_0_cxx.cxx.o")
        code, lines = self.check({"Excepted": "it may stay"})
        self.assertEqual((code, lines), (1, [
            "src/thing/thing.cc: no program calls attune::OnlyTested(); tests name it: src/thing/thing_test.cc",
            "src/thing/thing.cc: no program calls attune::Thing::Unused() const; nothing else does"]))

    def test_an_exception_must_be_one(self):
        names = ("Excepted", "OnlyTested", "Forgotten", "Thing::Unused")
        code, lines = self.check(dict.fromkeys(names, "it may stay"))
        self.assertEqual((code, lines), (0, ["programs call all functions but 4"]))
        code, lines = self.check(dict.fromkeys((*names, "CallsInlined"), "it may stay"))
        self.assertEqual(code, 1)
        self.assertEqual(lines, ["tools/check_dead.py: CallsInlined is no exception: it is gone, or a program calls it"])

    def test_needs_sections(self):
        (self.root / "build/compile_commands.json").write_text('[{"command": "clang++-19 -O2"}]')
        with self.assertRaisesRegex(SystemExit, "was not built with -ffunction-sections"):
            self.check({})

    def test_needs_the_programs(self):
        (self.root / "build/bin/attune").unlink()
        with self.assertRaisesRegex(SystemExit, "build these first: .*bin/attune"):
            self.check({})


if __name__ == "__main__":
    unittest.main()
