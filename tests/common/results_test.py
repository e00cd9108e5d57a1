#!/usr/bin/env python3
"""Tests of tools/common: documents of results."""
import json
import pathlib
import tempfile
import unittest

from common import machine, results


class Results(unittest.TestCase):
    VALUES = {"short": [1, 2.5, "a"], "long": [[i, i / 3] for i in range(40)], "": {"none": None, "[ \" ]": []}}

    def test_text_is_that_value_in_short_lines(self):
        text = results.text_of(self.VALUES)
        self.assertEqual(json.loads(text), self.VALUES)
        self.assertLessEqual(max(map(len, text.splitlines())), results.WIDTH)
        self.assertIn('\n "short": [1, 2.5, "a"],\n', text)

    def test_what_does_not_fit_stays_whole(self):
        self.assertEqual(results.text_of(["a" * 200]), '[\n "' + "a" * 200 + '"\n]')

    def test_numbers_are_rounded_wherever_they_are(self):
        self.assertEqual(results.rounded({"a": (1 / 3, 1), "b": [{"c": 2e9 / 3}], "d": "0.123456789012"}),
                         {"a": [0.333333333, 1], "b": [{"c": 666666667.0}], "d": "0.123456789012"})

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "new/results.json"
            results.write(path, self.VALUES)
            self.assertEqual(results.load(path), self.VALUES)
            self.assertEqual(list(path.parent.iterdir()), [path])
            path.write_text("{")
            with self.assertRaisesRegex(ValueError, "is damaged"):
                results.load(path)

    def test_machines(self):
        here = {"machine": machine.describe()}
        self.assertTrue(results.is_of_here(here))
        here["machine"]["processors"] += 1
        self.assertFalse(results.is_of_here(here))
        self.assertTrue(results.is_of_here(here, ("cpu",)))


if __name__ == "__main__":
    unittest.main()
