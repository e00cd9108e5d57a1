"""docs/glossary.md has each term once, in alphabetical order, with a meaning; documents that list others list it."""
import re
import unittest

from common.program import ROOT

PAGE = ROOT / "docs/glossary.md"
# "- **term** (another name, …): meaning"
ENTRY = re.compile(r"- \*\*(?P<term>[^*]+)\*\*(?: \((?P<others>[^)]+)\))?: (?P<meaning>\S.*)", re.DOTALL)


def entries(text):
    """The items of the list, continuation lines included."""
    return [item.replace("\n  ", " ").strip() for item in re.split(r"^(?=- )", text, flags=re.MULTILINE)[1:]]


def faults(text):
    """Sentences about items that break the form, the order, or the rule that a term stands once."""
    seen = set()
    last = ""
    for item in entries(text):
        match = ENTRY.fullmatch(item)
        if match is None:
            yield f"no entry: {item[:40]}"
            continue
        term = match["term"].lower()
        names = [term, *(name.strip().lower() for name in (match["others"] or "").split(",") if name.strip())]
        yield from (f"{name} stands twice" for name in names if name in seen)
        seen.update(names)
        if term < last:
            yield f"{term} stands after {last}"
        last = term


class Glossary(unittest.TestCase):
    def test_terms_stand_once_and_in_order(self):
        self.assertEqual(list(faults(PAGE.read_text())), [])
        self.assertGreater(len(entries(PAGE.read_text())), 50)

    def test_faults_are_found(self):
        text = "# G\n\n- **b**: two.\n- **a** (c): one,\n  on two lines.\n- **C**: three.\n- d: four.\n- **e**:\n"
        self.assertEqual(list(faults(text)), ["a stands after b", "c stands twice", "no entry: - d: four.", "no entry: - **e**:"])

    def test_it_is_linked(self):
        for page in ("README.md", "docs/architecture.md"):
            self.assertIn("glossary.md", (ROOT / page).read_text(), page)


if __name__ == "__main__":
    unittest.main()
