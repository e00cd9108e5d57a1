"""The front pages lead everywhere: each page of docs/ is reached from docs/README.md by links, and no link is dead."""
import pathlib
import re
import unittest

from common.program import ROOT

START = ROOT / "docs/README.md"
FRONT = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def links(page):
    """The files and folders that a page links to; a folder with a README.md stands for that."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in LINK.findall(text):
        if "://" in target or target.startswith("#"):
            continue
        path = (page.parent / target.split("#")[0]).resolve()
        yield path / "README.md" if (path / "README.md").exists() else path


def reached(start):
    """The pages of docs/ that links lead to, in any number of steps."""
    found, waiting = {start}, [start]
    while waiting:
        for path in links(waiting.pop()):
            if path.suffix == ".md" and path.exists() and path.is_relative_to(ROOT / "docs") and path not in found:
                found.add(path)
                waiting.append(path)
    return found


def anchors(page):
    """The names of a page's headings, as pages are shown on the web."""
    for heading in re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Index(unittest.TestCase):
    def test_each_page_is_reached(self):
        missing = set((ROOT / "docs").rglob("*.md")) - reached(START)
        self.assertEqual(sorted(str(path.relative_to(ROOT)) for path in missing), [])

    def test_guides_stand_in_the_index(self):
        named = set(links(START))
        pages = {*(ROOT / "docs").glob("*.md"), *(ROOT / "docs/guides").glob("*.md")} - {START}
        self.assertEqual(sorted(str(path.relative_to(ROOT)) for path in pages - named), [])

    def test_links_lead_somewhere(self):
        dead = [f"{page.relative_to(ROOT)}: {path}" for page in [*FRONT, *sorted((ROOT / "docs").rglob("*.md"))]
                for path in links(page) if not path.exists()]
        self.assertEqual(dead, [])

    def test_anchors_exist(self):
        for page in [*FRONT, *sorted((ROOT / "docs").rglob("*.md"))]:
            for target, anchor in re.findall(r"\]\(([^)\s#:]*\.md)?#([^)\s]+)\)", page.read_text()):
                other = page.parent / target if target else page
                self.assertIn(anchor, list(anchors(other)), f"{page.relative_to(ROOT)}: {target}#{anchor}")

    def test_what_is_wrong_is_found(self):
        self.assertNotIn(ROOT / "docs/guides/none.md", reached(START))
        self.assertEqual(next(links(START)), ROOT / "docs/decisions/README.md")


if __name__ == "__main__":
    unittest.main()
