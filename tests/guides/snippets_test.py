"""The blocks of C and C++ in the README and the guides compile against the public headers.

A block with a main() is a whole program. Another one stands in a function, whose reader brings what READER declares.
"""
import os
import pathlib
import re
import subprocess
import unittest

from common.program import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs/guides").glob("*.md"))]
BLOCK = re.compile(r"^```(c|cpp)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INCLUDE = re.compile(r"^#include .*\n", re.MULTILINE)
COMPILERS = {"c": ("CC", "c", "c99"), "cpp": ("CXX", "c++", "c++20")}
READER = {
    "c": """#include <attune/compiler.h>
static int fail(attune_failure* failure) { attune_failure_free(failure); return 1; }
int reader(attune_session* session, attune_error error) {
  if (!session) return fail(NULL);
  {
%s  }
  return 0;
}
""",
    "cpp": """#include <attune/compiler.hpp>
#include <iostream>
namespace ac = attune::compiler;
void reader(const ac::Network& network, std::span<const float> pixels) {
  {
%s  }
}
""",
}


def snippets():
    """(place, language, code) of each block."""
    for page in PAGES:
        text = page.read_text()
        for match in BLOCK.finditer(text):
            line = text.count("\n", 0, match.start()) + 2
            yield f"{page.relative_to(ROOT)}:{line}", match[1], match[2]


def program(language, code):
    """The block as a file that compiles by itself."""
    if re.search(r"\bmain\(", code):
        return code
    return "".join(INCLUDE.findall(code)) + READER[language] % INCLUDE.sub("", code)


def faults(language, code):
    """The compiler's words, or nothing."""
    variable, name, standard = COMPILERS[language]
    includes = [f"-I{ROOT / 'include'}", f"-I{pathlib.Path(os.environ['OPTIONS']) / 'include'}"]
    done = subprocess.run([os.environ[variable], "-x", name, f"-std={standard}", "-Wall", "-Werror", "-Wno-unused", *includes,
                           "-fsyntax-only", "-"], input=program(language, code), capture_output=True, text=True, check=False)
    return done.stderr


class Snippets(unittest.TestCase):
    def test_blocks_compile(self):
        found = list(snippets())
        self.assertEqual({language for _, language, _ in found}, {"c", "cpp"})
        for place, language, code in found:
            with self.subTest(place):
                self.assertEqual(faults(language, code), "")

    def test_faults_are_found(self):
        self.assertIn("NoSuchType", faults("cpp", "NoSuchType network;\n"))
        self.assertIn("attune_no_such", faults("c", "attune_no_such(session);\n"))


if __name__ == "__main__":
    unittest.main()
