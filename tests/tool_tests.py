"""Helpers for the tests of several tools."""
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def run_module(name, *arguments, **environment):
    """Runs `python -m name arguments`; returns how it ends and what it prints."""
    return subprocess.run([sys.executable, "-m", name, *map(str, arguments)], capture_output=True, text=True,
                          check=False, env={**os.environ, **environment})


def check_figure(test, name, drawing):
    """Checks that the drawing is SVG and that all its shapes lie within its frame."""
    root = ElementTree.fromstring(drawing)
    width, height = float(root.get("width")), float(root.get("height"))
    points = [tuple(map(float, point.split(","))) for shape in ("polyline", "polygon")
              for element in root.iter(SVG + shape) for point in element.get("points").split()]
    points += [(float(circle.get("cx")), float(circle.get("cy"))) for circle in root.iter(SVG + "circle")]
    for rect in root.iter(SVG + "rect"):
        x, y, w, h = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
        test.assertTrue(w >= 0 and h >= 0, (name, x, y, w, h))
        points += [(x, y), (x + w, y + h)]
    for x, y in points:
        test.assertTrue(0 <= x <= width and 0 <= y <= height, (name, x, y))
