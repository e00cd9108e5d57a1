"""tools/README.md has a line for each script, and no other, and names commands of ./do that exist."""
import re
import unittest

from common.program import ROOT

TOOLS = ROOT / "tools"
ROW = re.compile(r"^\| `([\w/.]+)` \| (.+) \| (.+) \|$", re.MULTILINE)


def scripts():
    """The files that are run, relative to tools/."""
    for path in TOOLS.rglob("*"):
        if path.suffix == ".sh" or path.suffix == ".py" and '__name__ == "__main__"' in path.read_text():
            yield str(path.relative_to(TOOLS))


class ReadmeTest(unittest.TestCase):
    def setUp(self):
        self.rows = ROW.findall((TOOLS / "README.md").read_text())

    def test_each_script_has_a_line(self):
        self.assertEqual(sorted(name for name, _, _ in self.rows), sorted(scripts()))

    def test_commands_exist(self):
        commands = (ROOT / "do").read_text()
        for name, _, by in self.rows:
            for command in re.findall(r"`\./do ([\w-]+)", by):
                self.assertIn(f"\n  {command})", commands, name)

    def test_other_scripts_stand_in_folders(self):
        for path in (*TOOLS.glob("*.py"), *TOOLS.glob("*.sh")):
            self.assertRegex(path.name, r"^(check_\w+\.py|setup\.sh|wheel\.sh)$")


if __name__ == "__main__":
    unittest.main()
