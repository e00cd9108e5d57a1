#!/usr/bin/env python3
"""The faults of tools/planted_miscompiles.py can be planted in the current sources."""
import unittest

from planted_miscompiles import FAULTS
from program import ROOT


class Faults(unittest.TestCase):
    def test_each_has_its_place(self):
        for fault in FAULTS:
            self.assertEqual((ROOT / fault.file).read_text().count(fault.right), 1, fault.name)
            self.assertNotEqual(fault.right, fault.wrong)


if __name__ == "__main__":
    unittest.main()
