#!/usr/bin/env python3
"""Tests of tools/common: the parts of pages and figures."""
import unittest
import xml.etree.ElementTree as ElementTree

from common.report.charts import Bar, BarChart, Scale
from common.report.svg import Drawing
from common.report.tables import markdown
from common.report.words import milliseconds
from tool_tests import SVG


class Text(unittest.TestCase):
    def test_milliseconds_have_three_digits(self):
        self.assertEqual([milliseconds(value) for value in (0.5, 9.994, 9.996, 99.94, 99.96, 289.4)],
                         ["0.50", "9.99", "10.0", "99.9", "100", "289"])

    def test_markdown(self):
        self.assertEqual(markdown([["a", "b"], ["1", "2"]]), "| a | b |\n|---|--:|\n| 1 | 2 |")


class Figures(unittest.TestCase):
    def test_text_is_escaped(self):
        drawing = Drawing(10, 20, "a < b", "\"c\" & d")
        drawing.text(1.23456, 2, "<&>", font_weight=None)
        root = ElementTree.fromstring(str(drawing))
        self.assertEqual(root.find(SVG + "title").text, "a < b")
        text = root.find(SVG + "text")
        self.assertEqual((text.text, text.get("x"), text.get("font-weight")), ("<&>", "1.23", None))

    def test_a_bar_has_the_length_of_its_value(self):
        bars = [Bar(value, "", "#111111") for value in (1.0, 2.0, 9.0)]
        root = ElementTree.fromstring(BarChart("t", "s", "a", [], [("g", bars)], longest=4.0).draw())
        one, two, nine = (float(r.get("width")) for r in root.iter(SVG + "rect") if r.get("fill") == "#111111")
        self.assertAlmostEqual(two, 2 * one, delta=0.02)
        self.assertAlmostEqual(nine, 4 * one, delta=0.05)

    def test_scales(self):
        self.assertEqual(Scale(0, 10, 100, 200)(5), 150)
        self.assertEqual(Scale(1, 100, 0, 50, logarithmic=True)(10), 25)
        self.assertEqual(Scale(1, 100, 0, 50, logarithmic=True)(0), 0)


if __name__ == "__main__":
    unittest.main()
