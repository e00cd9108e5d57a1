"""Guides, decisions and the architecture name only files that exist, and count files correctly.

In text, a name in backticks that looks like a file (`src/opt/rule.h`, `rule.h`) or a folder (`src/opt/`) must exist in
the tree: relative to the root, to src/, or, for a file name alone, in any folder. `<…>` is a placeholder: `<name>.cc`
is a file that the reader writes, whose folder exists. `*` stands for at least one file. A sentence with "N files
without tests: " names N files after that. The guide to tuning names each event and stage.
"""
import pathlib
import re
import unittest

from common.program import ROOT

PAGES = [ROOT / "docs/architecture.md", *sorted(ROOT.glob("docs/guides/*.md")), *sorted(ROOT.glob("docs/decisions/*.md"))]
FOLDERS = ("src", "tests", "tools", "include", "docs", "benchmarks", "cmake", "python")

# The endings of file names in this tree. Models, records and output files of programs have other names.
SUFFIXES = ("h", "cc", "inc", "py", "md", "proto", "fbs", "in", "sh")
FILE = re.compile(rf"(?:[\w<>*.-]+/)*[\w<>*.-]+\.(?:{'|'.join(SUFFIXES)})|(?:[\w<>*.-]+/)*CMakeLists\.txt")
FOLDER = re.compile(rf"(?:{'|'.join(FOLDERS)})/(?:[\w<>.-]+/)*")

NUMBERS = "two three four five six seven eight nine ten eleven twelve thirteen fourteen".split()
COUNT = re.compile(r"\b(\w+) files\s+without\s+tests:\s+(.*?)\.(?=\s|$)", re.DOTALL)


def text_of(page):
    """The text of a page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def names(text):
    """Each name in backticks, which may continue on the next line."""
    return [re.sub(r"\s+", " ", name) for name in re.findall(r"`([^`]+)`", text)]


def tree():
    """The paths of all files, relative to the root."""
    roots = [ROOT / folder for folder in FOLDERS]
    return {str(path.relative_to(ROOT)) for root in roots for path in root.rglob("*") if path.is_file()} | {
        path.name for path in ROOT.iterdir() if path.is_file()}


def pattern(name):
    """Matches the paths that the name may mean; the name has no placeholders."""
    return re.compile(r"(?:.*/)?" + re.escape(name).replace(r"\*", "[^/]*"))


def is_file_of(name, files):
    """Whether the tree has the file, relative to the root or to src/; a name alone may be anywhere. For a file that the
    reader writes: whether its folder exists."""
    folder, _, last = name.rpartition("/")
    if "<" in folder:
        return is_folder(folder + "/")
    if "<" in last:
        return not folder or is_folder(folder + "/")
    if not folder:
        return any(pattern(last).fullmatch(path) for path in files)
    exact = re.compile("(?:src/|include/)?" + re.escape(name).replace(r"\*", "[^/]*"))
    return any(exact.fullmatch(path) for path in files)


def is_folder(name):
    """Whether the folder exists. Placeholders stand for folders that the reader makes."""
    known = name.split("<")[0]
    return (ROOT / known).is_dir() or (ROOT / "src" / known).is_dir()


def missing(text, files):
    """The names in the text that the tree does not have."""
    for name in names(text):
        if FILE.fullmatch(name) and not is_file_of(name, files) or FOLDER.fullmatch(name) and not is_folder(name):
            yield name


def broken_links(page, text):
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target and not (page.parent / target).exists():
            yield target


def counts(text):
    """(the stated number, the files that are named) for each such sentence."""
    for number, rest in COUNT.findall(text):
        number = number.lower()
        stated = NUMBERS.index(number) + 2 if number in NUMBERS else int(number)
        yield stated, [name for name in names(rest) if FILE.fullmatch(name)]


class Guides(unittest.TestCase):
    def setUp(self):
        self.files = tree()

    def test_names_are_in_the_tree(self):
        found = [f"{page.relative_to(ROOT)}: {name}" for page in PAGES for name in missing(text_of(page), self.files)]
        self.assertEqual(found, [])

    def test_links_lead_somewhere(self):
        found = [f"{page.relative_to(ROOT)}: {target}" for page in PAGES for target in broken_links(page, text_of(page))]
        self.assertEqual(found, [])

    def test_counts_of_files_are_true(self):
        for page in PAGES:
            for stated, named in counts(text_of(page)):
                self.assertEqual(stated, len(named), f"{page.relative_to(ROOT)}: {named}")
                self.assertEqual(len(named), len(set(named)), f"{page.relative_to(ROOT)}: {named}")

    def test_guides_count(self):
        for guide in ("operator", "pass", "strategy", "target"):
            page = next(page for page in PAGES if page.name in (f"add-a-{guide}.md", f"add-an-{guide}.md"))
            self.assertTrue(list(counts(text_of(page))), page.name)

    def test_events_and_stages_of_tuning_are_told(self):
        told = set(names(text_of(ROOT / "docs/guides/tuning.md")))
        job = ROOT / "src/tune/job"
        events = {name for path in job.glob("*.cc") if not path.stem.endswith("_test")
                  for name in re.findall(r'\bLog\(\s*"(\w+)"', path.read_text())}
        stages = set(re.findall(r'^    \{"(\w+)"', (job / "stage.cc").read_text(), re.MULTILINE))
        self.assertGreater(min(len(events), len(stages)), 5)
        self.assertEqual((events | stages) - told, set())

    def test_what_is_wrong_is_found(self):
        text = ("`src/graph/op_table.inc`, `graph/op.h`, `op.h`, `src/opt/<name>.cc`, `src/import/<format>/`, "
                "`src/op*.cc`, `model.atn`, `src/grap/op.h`, `none.h`, `lower/op.h`, `src/grap/<name>.cc`, "
                "`src/nothing/`, `no*such.cc`")
        self.assertEqual(list(missing(text, self.files)), ["src/op*.cc", "src/grap/op.h", "none.h", "lower/op.h",
                                                           "src/grap/<name>.cc", "src/nothing/", "no*such.cc"])
        self.assertEqual(list(counts("Three files without tests: `a.h`, a row in\n`b.cc` and `c`. `d.h`")),
                         [(3, ["a.h", "b.cc"])])
        self.assertEqual(list(broken_links(PAGES[0], "[a](guides/tuning.md#x), [b](guides/none.md)")),
                         ["guides/none.md"])


if __name__ == "__main__":
    unittest.main()
