"""The ratchet: numbers may fall, and move between folders, and never rise."""
import pathlib
import tempfile
import unittest

from prose import counts
from prose.rules import Finding
from prose.sources import Passage


def finding(path, rule):
    return Finding(rule, Passage(path, 1, "x"), "x", "x", "y")


class Counts(unittest.TestCase):
    def test_folders_have_two_levels(self):
        self.assertEqual(counts.folder_of("src/service/rest/gate.h"), "src/service")
        self.assertEqual(counts.folder_of("tools/common/waiting.py"), "tools/common")

    def test_findings_are_counted(self):
        found = [finding("src/b/x.h", "so"), finding("src/a/x.h", "so"), finding("src/b/c/x.h", "so"), finding("src/b/x.h", "begin")]
        self.assertEqual(counts.count(found), {"src/a": {"so": 1}, "src/b": {"begin": 1, "so": 2}})

    def test_differences_name_the_folder_and_rule(self):
        self.assertEqual(counts.differences({"a": {"so": 2}, "b": {"so": 1}}, {"a": {"so": 2, "begin": 1}}),
                         [("a", "begin", 0, 1), ("b", "so", 1, 0)])

    def test_a_rule_may_move_but_not_rise(self):
        self.assertEqual(counts.rises({"b": {"so": 2}}, {"a": {"so": 2}}), {})
        self.assertEqual(counts.rises({"b": {"so": 1}}, {"a": {"so": 2}}), {})
        self.assertEqual(counts.rises({"b": {"so": 3, "begin": 1}}, {"a": {"so": 2}}), {"so": 1, "begin": 1})

    def test_files_are_read_as_written(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "counts.json"
            self.assertEqual(counts.load(file), {})
            stored = {"a": {"so": 2}, "b": {"begin": 1, "so": 1}}
            counts.save(stored, file)
            self.assertEqual(counts.load(file), stored)
            self.assertEqual(len(file.read_text().splitlines()), 4)


if __name__ == "__main__":
    unittest.main()
