"""Which prose is found in files of each kind, and where."""
import json
import unittest

from prose import sources


def found(path, text):
    return [(passage.line, passage.text) for passage in sources.read(path, text)]


class Cpp(unittest.TestCase):
    def test_comments_continue_in_their_column(self):
        self.assertEqual(found("src/base/a.h", "// One two\n// three.\nint a;  // four five\n        // six seven\n"
                                               "int b;  // eight nine\nint c;  // ten eleven\n"),
                         [(1, "One two three."), (3, "four five six seven"), (5, "eight nine"), (6, "ten eleven")])

    def test_paragraphs_and_items_are_apart(self):
        self.assertEqual(found("src/base/a.h", "// One two:\n//\n// - three four\n//   five\n// - six seven\n"),
                         [(1, "One two:"), (3, "three four five"), (5, "six seven")])

    def test_block_comments(self):
        self.assertEqual(found("include/attune/attune.h", "/** One two\n * three. */\nint a; /**< four five */\n"),
                         [(1, "One two three."), (3, "four five")])

    def test_literals_are_joined_and_others_are_not(self):
        self.assertEqual(found("src/base/a.cc", 'Fail("one two "\n     "three", "four five\\n", \'"\', "six seven");'),
                         [(1, "one two three"), (2, "four five"), (2, "six seven")])

    def test_pieces_open_with_a_space(self):
        self.assertEqual([(one.text, one.is_piece) for one in sources.read("src/base/a.cc", 'F(name, " of the file", "one two")')],
                         [("of the file", True), ("one two", False)])

    def test_raw_literals(self):
        self.assertEqual(found("src/base/a.cc", 'R"(one "two" // three)" // four five'),
                         [(1, 'one "two" // three'), (1, "four five")])

    def test_digits_have_separators(self):
        self.assertEqual(found("src/base/a.cc", 'int a = 1\'000; f("one two");'), [(1, "one two")])

    def test_code_is_left_out(self):
        self.assertEqual(found("src/base/a.h", '#include "base/a.h"\n}  // namespace attune\n#endif  // ATTUNE_A_H_\nf("word");'), [])


class Python(unittest.TestCase):
    def test_docstrings_comments_and_literals(self):
        text = '"""One two.\n\nThree four.\n"""\n# five six\n# seven\nraise E(f"eight {x} nine " "ten")  # eleven twelve\n'
        self.assertEqual([(one.line, one.text, one.is_message) for one in sources.read("tools/a.py", text)],
                         [(1, "One two.", False), (3, "Three four.", False), (7, "eight {x} nine ten", True),
                          (5, "five six seven", False), (7, "eleven twelve", False)])


class Page(unittest.TestCase):
    def test_text_between_tags(self):
        text = "// one two\nconst a = (b: C) => b > 1 && c < 2;\nreturn <p title=\"three four\">Five {six} seven\n  eight</p>;\n"
        self.assertEqual(found("web/src/views/a.tsx", text), [(3, "three four"), (1, "one two"), (3, "seven eight")])

    def test_urls_are_no_comments(self):
        self.assertEqual(found("web/src/a.ts", "const a = 'see https://b.org now';"), [(1, "see https://b.org now")])


class Documents(unittest.TestCase):
    def test_paragraphs_headings_items_and_cells(self):
        text = ("# One two\n\nThree [four](five.md)\nsix.\n\n    code it is\n\n```\ncode it is\n```\n"
                "- seven eight\n- nine ten\n\n| eleven twelve | x |\n")
        self.assertEqual(found("docs/a.md", text),
                         [(1, "One two"), (3, "Three four six."), (11, "seven eight"), (12, "nine ten"), (14, "eleven twelve")])

    def test_notebooks(self):
        cells = [{"cell_type": "markdown", "source": ["One\n", "two."]}, {"cell_type": "code", "source": ["x = 1  # three four"]}]
        self.assertEqual(found("docs/examples/notebooks/a.ipynb", json.dumps({"cells": cells})), [(1, "One two."), (1, "three four")])

    def test_usage(self):
        usage = "cat <<'TEXT'\n./do test [x]    builds and tests\nTEXT\n"
        self.assertEqual(found("do", usage), [(2, "builds and tests")])


class Public(unittest.TestCase):
    def test_what_users_see(self):
        for path, is_message, is_public in [
                ("include/attune/attune.h", False, True), ("python/attune/network.py", False, True), ("docs/tuning.md", False, True),
                ("src/opt/pass_table.inc", False, True), ("src/cli/main.cc", True, True), ("src/cli/main.cc", False, False),
                ("src/base/a_test.cc", True, False), ("src/base/testing/a.cc", True, False), ("web/src/app.tsx", True, True),
                ("tools/demo/show.py", True, False), ("README.md", False, True)]:
            with self.subTest(path=path, is_message=is_message):
                self.assertEqual(sources.is_public(path, is_message), is_public)

    def test_files_of_the_tree(self):
        files = sources.files()
        self.assertTrue({"README.md", "do", "src/opt/pass_table.inc", "web/src/app.tsx", "include/attune/attune.h"} <= set(files))
        self.assertFalse([path for path in files if path.startswith(("docs/decisions/", "tests/prose/"))])


if __name__ == "__main__":
    unittest.main()
