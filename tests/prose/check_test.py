"""What makes tools/check_prose.py fail."""
import contextlib
import io
import unittest

import check_prose
from prose.rules import Finding
from prose.sources import Passage


def finding(path, is_public=False):
    return Finding("so", Passage(path, 1, "x", is_public=is_public), "Waits so long.", "so long", "this long")


def checked(public, other, stored):
    """(exit status, what it prints)."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = check_prose.check(public, other, stored)
    return status, printed.getvalue()


class Check(unittest.TestCase):
    def test_the_stored_numbers_pass(self):
        self.assertEqual(checked([], [finding("src/a/x.h")], {"src/a": {"so": 1}}), (0, ""))

    def test_a_higher_number_fails_and_lists_the_sentences(self):
        status, printed = checked([], [finding("src/a/x.h"), finding("src/a/y.h")], {"src/a": {"so": 1}})
        self.assertEqual(status, 1)
        self.assertIn("src/a breaks 'so' 2 times, 1 are stored", printed)
        self.assertIn("src/a/y.h:1: so:", printed)

    def test_a_lower_number_passes_and_asks_for_an_update(self):
        status, printed = checked([], [], {"src/a": {"so": 1}})
        self.assertEqual(status, 0)
        self.assertIn("--update", printed)

    def test_prose_for_users_has_no_number(self):
        status, printed = checked([finding("src/cli/x.cc", is_public=True)], [], {"src/cli": {"so": 1}})
        self.assertEqual(status, 1)
        self.assertIn("src/cli/x.cc:1: so:", printed)


class Update(unittest.TestCase):
    def test_it_refuses_to_raise(self):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            self.assertEqual(check_prose.update({"src/a": {"so": 2}}, {"src/b": {"so": 1}}), 1)
        self.assertIn("so: 1 more than stored", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
