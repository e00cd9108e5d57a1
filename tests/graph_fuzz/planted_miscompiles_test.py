#!/usr/bin/env python3
"""The faults of tools/compiler/planted_miscompiles.py can be planted in the current sources."""
import unittest

from common.program import ROOT
from compiler.planted_miscompiles import FAULTS


class Faults(unittest.TestCase):
    def test_each_has_its_place(self):
        for fault in FAULTS:
            self.assertEqual((ROOT / fault.file).read_text().count(fault.right), 1, fault.name)
            self.assertNotEqual(fault.right, fault.wrong)


if __name__ == "__main__":
    unittest.main()
