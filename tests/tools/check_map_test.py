"""tools/check_map.py on figures and sources made for it, and on the tree's own."""
import pathlib
import tempfile
import unittest
from unittest import mock

import check_map

FILES = {
    "one/a.h": '#include "two/b.h"\nint Free(int x);\nclass A final : public B {\n public:\n  void Work();\n  int Get() { return Other(); }\n};\n',
    "one/a_test.cc": "void OnlyInTests() {}\n",
    "one/a.cc": "int Free(int x) { return Elsewhere(x); }\nvoid C::Defined() {}\n",
    "two/b.h": "class B {};\n",
    "three/c.h": "\n",
}


class CheckMap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        source = pathlib.Path(folder.name) / "src"
        for name, text in FILES.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text)
        self.tree = check_map.Tree(source)
        rows = mock.patch.dict(check_map.check_includes.MAY_INCLUDE, {"one": ["two", "three/c.h"], "two": []}, clear=True)
        rows.start()
        self.addCleanup(rows.stop)

    def faults(self, *lines):
        return list(check_map.faults("text\n\n```mermaid\n" + "\n".join(lines) + "\n```\n", self.tree))

    def test_flowchart(self):
        self.assertEqual(self.faults("flowchart LR", "  a[one] --> b[two]", "  b -.-> a"), [])

    def test_missing_folder(self):
        self.assertEqual(self.faults("flowchart LR", "  a[one] -.-> b[four]"), [(5, "src/ has no folder four/")])

    def test_arrows_that_the_table_forbids(self):
        self.assertEqual(self.faults("flowchart LR", "  a[one] --> b[two]", "  b --> a"), [(6, "two/ may not include one/")])

    def test_arrows_without_an_include(self):
        self.assertEqual(self.faults("flowchart LR", "  a[one] --> b[two] & c[three]"), [(5, "one/ includes nothing of three/")])

    def test_lines_that_are_not_read(self):
        self.assertEqual(self.faults("flowchart LR", "  a[one] ==> b[two]"), [(5, "cannot read a[one] ==> b[two]")])
        self.assertEqual(self.faults("flowchart LR", "  a --> b"), [(5, "a is not a node with a folder")])

    def messages(self, *lines):
        head = ("sequenceDiagram", "  participant a as one (a process)", "  participant b as two")
        return self.faults(*head, *lines)

    def test_functions_that_are_declared(self):
        self.assertEqual(self.messages("  b->>a: A::Work", "  loop twice", "  b-)a: Free, with a note", "  end", "  b->>a: A::Get",
                                       "  b->>a: C::Defined", "  a-->>b: any words"), [])

    def test_functions_that_are_not(self):
        self.assertEqual(self.messages("  b->>a: A::Works", "  b->>a: B::Work", "  b->>a: Elsewhere, a call", "  b->>a: OnlyInTests"),
                         [(7, "src/one/ declares no A::Works"), (8, "src/one/ declares no B::Work"),
                          (9, "src/one/ declares no Elsewhere"), (10, "src/one/ declares no OnlyInTests")])
        self.assertEqual(self.messages("  a->>b: Free"), [(7, "src/two/ declares no Free")])

    def test_participants(self):
        self.assertEqual(self.messages("  c->>a: Free"), [(7, "c is not a participant")])
        self.assertEqual(self.messages("  participant d as four"), [(7, "src/ has no folder four/")])


class Page(unittest.TestCase):
    def test_has_its_figures_and_no_mistake(self):
        text = (check_map.ROOT / check_map.PAGE).read_text()
        self.assertEqual(list(check_map.faults(text, check_map.Tree(check_map.ROOT / "src"))), [])
        blocks = check_map.BLOCK.findall(text)
        self.assertEqual(sorted(block.split()[0] for block in blocks), ["flowchart"] * 2 + ["sequenceDiagram"] * 3)


if __name__ == "__main__":
    unittest.main()
