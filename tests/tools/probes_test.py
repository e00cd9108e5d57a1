"""The probes apply to the tree and hold their bounds; and tools/probes on patches made for it."""
import pathlib
import tempfile
import unittest
from unittest import mock

from common.program import Failed
from probes import __main__ as program
from probes import probe as probes

HEADER = "A line.\n\nBound: 1\nBuild: a_test b_test\nRun: a_test --gtest_filter=A.*\nRun: b_test\n\n"


def diff(*paths):
    return "".join(f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1,2 @@\n one\n+two\n" for path in paths)


class Tree(unittest.TestCase):
    def test_each_probe_fits(self):
        self.assertEqual({probe.name: probes.fault(probe) for probe in probes.read_all() if probes.fault(probe)}, {})

    def test_kinds(self):
        self.assertLessEqual({"metric", "operator", "pass", "rest_field"}, {probe.name for probe in probes.read_all()})


class Probes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        for path in ("a.cc", "b.cc", "web/src/api/schema.d.ts"):
            (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / path).write_text("one\n")

    def made(self, text):
        path = self.tree / "made.patch"
        path.write_text(text)
        return probes.read(path)

    def test_header(self):
        probe = self.made(HEADER + diff("a.cc"))
        self.assertEqual((probe.name, probe.bound, probe.targets), ("made", 1, ["a_test", "b_test"]))
        self.assertEqual(probe.runs, [["a_test", "--gtest_filter=A.*"], ["b_test"]])
        self.assertEqual(probes.fault(probe, self.tree), "")

    def test_header_lacks_a_line(self):
        with self.assertRaisesRegex(Failed, "made.patch: has no Build line"):
            self.made(HEADER.replace("Build: ", "Built: ") + diff("a.cc"))
        with self.assertRaisesRegex(Failed, "made.patch: has no diff"):
            self.made(HEADER)

    def test_bound(self):
        probe = self.made(HEADER + diff("a.cc", "b.cc"))
        self.assertEqual(probes.fault(probe, self.tree), "touches 2 files, 1 more than its bound")

    def test_generated_files_do_not_count(self):
        probe = self.made(HEADER + diff("a.cc", "web/src/api/schema.d.ts"))
        self.assertEqual(probes.touched(probe, self.tree), ["a.cc"])
        self.assertEqual(probes.fault(probe, self.tree), "")

    def test_no_longer_applies(self):
        probe = self.made(HEADER + diff("a.cc"))
        (self.tree / "a.cc").write_text("three\n")
        self.assertRegex(probes.fault(probe, self.tree), "^no longer applies, so make it anew on this tree: .*a.cc")

    def test_unknown_probe(self):
        self.made(HEADER + diff("a.cc"))
        self.assertEqual([probe.name for probe in probes.read_all(["made"], self.tree)], ["made"])
        with self.assertRaisesRegex(Failed, "there is no probe other: choose from made"):
            probes.read_all(["other"], self.tree)

    def test_a_filter_that_finds_no_test_fails(self):
        probe = self.made(HEADER + diff("a.cc"))
        for output, error in (("[  PASSED  ] 0 tests.\n", "a_test --gtest_filter=A.*: runs no test"), ("[  PASSED  ] 10 tests.\n", "")):
            with mock.patch.object(program, "call", return_value=output), mock.patch.object(program, "git_apply"):
                self.assertEqual(program.problem(probe, self.tree), error)


if __name__ == "__main__":
    unittest.main()
