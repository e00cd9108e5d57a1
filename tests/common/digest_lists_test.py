"""Lists of digests are read back as they were written, and compared."""
import contextlib
import io
import pathlib
import tempfile
import unittest

from common.program import Failed
from compiler import digest_lists

COLUMNS = ("network", "kernel", "digest")


class DigestLists(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "list"
            path.write_text(text)
            return digest_lists.read_list(path, COLUMNS)

    def test_reads_keys_and_digests(self):
        self.assertEqual(self.read("net conv 12\nnet gemm 34\n"), {("net", "conv"): "12", ("net", "gemm"): "34"})

    def test_names_the_line_that_is_wrong(self):
        with self.assertRaisesRegex(Failed, "line 2: not network, kernel, digest"):
            self.read("net conv 12\nnet gemm\n")

    def test_tells_what_differs_in_networks_of_both(self):
        before = {("a", "x"): "1", ("a", "y"): "2", ("a", "z"): "3", ("b", "x"): "4"}
        after = {("a", "x"): "1", ("a", "y"): "5", ("a", "w"): "6", ("c", "x"): "7"}
        self.assertEqual(list(digest_lists.differences(before, after)),
                         [("a", "w", "new"), ("a", "y", "other code"), ("a", "z", "gone")])

    def test_says_how_many_differ(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(digest_lists.print_differences({("a", "x"): "1"}, {("a", "x"): "2"}, "kernels"), 1)
            self.assertEqual(digest_lists.print_differences({("a", "x"): "1"}, {("a", "x"): "1"}, "kernels"), 0)
        self.assertEqual(out.getvalue().splitlines(), ["a x other code", "1 of 1 kernels differ, in a",
                                                       "0 of 1 kernels differ"])


if __name__ == "__main__":
    unittest.main()
