"""docs/operators.md is what the program lists."""
import unittest

from common.program import attune_json
from generators import operators_page


class OperatorsPageTest(unittest.TestCase):
    def test_the_page_is_what_the_program_says(self):
        page = operators_page.operators_page(attune_json("operators")["formats"])
        self.assertEqual(operators_page.PAGE.read_text(), page,
                         "PYTHONPATH=tools build/python/bin/python -m generators.operators_page writes docs/operators.md")

    def test_coverage_is_of_the_formats_own_list(self):
        entry = {"name": "ONNX", "remark": "and more", "operators": [{"name": "Add"}, {"name": "Old", "until_opset": 9}],
                 "refused": [{"name": "Rand", "reason": "it makes random numbers"}]}
        self.assertEqual(operators_page.coverage_row(entry, {"Add", "Rand", "Lost"}), "| ONNX | 1 of 3 | and more |")
        self.assertEqual(operators_page.coverage_row(entry, set()), "| ONNX | 2 | and more |")
        text = operators_page.section(entry, {"Add", "Rand", "Lost"})
        self.assertIn("`Add`, `Old` (until opset 9).", text)
        self.assertIn("- it is not implemented: `Lost`\n- it makes random numbers: `Rand`", text)


if __name__ == "__main__":
    unittest.main()
