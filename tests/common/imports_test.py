#!/usr/bin/env python3
"""A tool imports the library and itself, and the library no tool."""
import ast
import unittest

from common.program import ROOT

LIBRARY = "common"
TOOLS = ROOT / "tools"


def imported(path):
    """The first parts of the names of modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else \
            [node.module] if isinstance(node, ast.ImportFrom) else []
        yield from (name.split(".")[0] for name in names)


class Imports(unittest.TestCase):
    def test_no_tool_imports_another(self):
        packages = {folder.parent.name for folder in TOOLS.glob("*/__init__.py")}
        self.assertIn(LIBRARY, packages)
        for path in sorted(TOOLS.rglob("*.py")):
            # check_prose.py runs what is in prose/.
            own = path.relative_to(TOOLS).parts[0].removeprefix("check_").removesuffix(".py")
            others = packages - {own, LIBRARY}
            self.assertEqual(others.intersection(imported(path)), set(), path)


if __name__ == "__main__":
    unittest.main()
