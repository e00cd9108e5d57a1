"""The reference has each public name of C, C++, Python and REST, and its links lead somewhere."""
import html
import pathlib
import re
import tempfile
import unittest

from common.program import ROOT
from generators import reference
from generators.reference_readers import public_names

INCLUDE = ROOT / "include/attune"


class ReferenceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.entries = reference.read_all()
        reference.write(folder, cls.entries)
        cls.pages = {path.stem: path.read_text() for path in folder.glob("*.html")}

    def anchors(self, page):
        return [html.unescape(name) for name in re.findall(r'id="([^"]*)"', self.pages[page])]

    def has(self, page, names):
        self.assertGreater(len(names), 4)
        self.assertEqual(set(names) - set(self.anchors(page)), set())

    def test_c(self):
        headers = "".join(path.read_text() for path in INCLUDE.glob("*.h"))
        self.has("c", re.findall(r"^ATTUNE_EXPORT [\w\s*]*?\b(attune_\w+)\(", headers, re.MULTILINE))
        self.has("c", re.findall(r"^  (ATTUNE_\w+) = \d+", headers, re.MULTILINE))
        self.has("c", re.findall(r"^\} (attune_\w+);", headers, re.MULTILINE))

    def test_cpp(self):
        for name, space in (("attune.hpp", "runtime"), ("compiler.hpp", "compiler")):
            types = re.findall(r"^(?:class|struct) (?:ATTUNE_EXPORT )?(\w+)(?: : public \w+)? \{", (INCLUDE / name).read_text(),
                               re.MULTILINE)
            self.has("cpp", [f"{space}::{one}" for one in types])
        self.has("cpp", ["compiler::Network::tune", "compiler::Tensor::as", "compiler::TuneOptions", "compiler::Precision",
                         "compiler::copy_records", "runtime::Session::run_profiled"])

    def test_private_parts_and_bodies_are_left_out(self):
        for text in ("private:", "state_", "handle_", "throw Error"):
            self.assertNotIn(text, self.pages["cpp"])

    def test_python(self):
        self.has("python", public_names(ROOT / "python/attune/__init__.py"))
        self.has("python", ["Network.tune", "Network.run", "OpenNetwork.at", "Session.run", "Client.submit", "sweeps.read"])

    def test_rest(self):
        routes = [re.search(r'"(GET|PUT|POST|PATCH|DELETE|HEAD)", "(/[^"]*)"', text)
                  for path in (ROOT / "src/service/rest").glob("*_operations.cc")
                  for text in path.read_text().split(".route = ")[1:]]
        self.assertGreater(len(routes), 40)
        for method, path in (route.groups() for route in routes if route):
            self.assertIn(f"<pre>{method} {path.replace('...}', '}')}</pre>", self.pages["rest"])

    def test_links_lead_somewhere(self):
        for page, text in self.pages.items():
            names = self.anchors(page)
            self.assertEqual(len(names), len(set(names)), f"{page}: an anchor stands twice")
            for target, anchor in re.findall(r'href="([^"#]*)#?([^"]*)"', text):
                self.assertIn(target.removesuffix(".html") or page, self.pages)
                self.assertIn(html.unescape(anchor), [*names, ""], page)


if __name__ == "__main__":
    unittest.main()
