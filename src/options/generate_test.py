"""The generator of options: what it makes of a table, what it refuses, and docs/options.md, which it has written."""
import ast
import pathlib
import tempfile
import unittest

import generate
from generator import cpp, page, python, schema
from generator.table import TableError, read_table

TABLE = generate.HERE / "options.toml"
NEW = 'fast_exits = { type = "bool", since = "0.2", help = "whether exits are fast" }\n'


def with_row(row):
    """Returns the table with one more option of compiling."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "options.toml"
        path.write_text(TABLE.read_text().replace("\n[tune]\n", f"{row}\n[tune]\n"))
        return read_table(path)


class GeneratorTest(unittest.TestCase):
    def test_the_page_is_what_the_table_says(self):
        self.assertEqual(generate.PAGE.read_text(), page.options_page(read_table(TABLE)),
                         "python3 src/options/generate.py --update-docs writes docs/options.md")

    def test_a_new_option_is_everywhere(self):
        table = with_row(NEW)
        self.assertIn("| `--fast-exits` | `fast_exits` | `fast_exits` | `fast_exits` | false | whether exits are fast (since 0.2) |",
                      page.options_page(table))
        self.assertIn("  // Whether exits are fast.\n  bool fast_exits = false;\n", cpp.public_header(table))
        self.assertIn("  bool fast_exits = false;\n", cpp.settings_header(table))
        self.assertIn("fast_exits", schema.settings_schema(table, "tuning")["properties"])
        self.assertIn('.name = "fast_exits", .field = "fast_exits", .flag = "--fast-exits"', cpp.settings_source(table))
        self.assertIn('set_changed(to.get(), "fast_exits", from.fast_exits, defaults.fast_exits);', cpp.public_to_c(table))
        self.assertIn('read(from, "fast_exits", to.fast_exits);', cpp.public_to_c(table))
        self.assertIn("options.fast_exits = fast_exits;", cpp.python_bindings(table))
        self.assertIn("fast_exits: whether exits are fast.", " ".join(python.python_module(table).split()))

    def test_signatures(self):
        module = ast.parse(python.python_module(read_table(TABLE)))
        steps, = (node for node in module.body if isinstance(node, ast.ClassDef))
        names = {node.name: [argument.arg for argument in node.args.args] for node in steps.body
                 if isinstance(node, ast.FunctionDef)}
        self.assertEqual(names["tune"], ["self", "minutes", "trials", "trials_per_task", "threads", "batch", "seed",
                                         "execution_seconds", "transfer", "records", "events"])
        self.assertEqual(names["optimize"], ["self", "precision", "weights", "passes", "examples", "unchecked_indices"])

    def test_refuses_a_table_that_contradicts_itself(self):
        for change, message in (('kind = "x"', 'there is no key "kind"'), ('only = "gui"', "only: there is no gui"),
                                ('enum = "colors"', 'enum: there is no "colors"'), ('field = "threads"', "another threads")):
            with self.subTest(change), self.assertRaisesRegex(TableError, message):
                with_row(NEW.replace("since", change + ", since"))
        with self.assertRaisesRegex(TableError, 'type: there is no type "date"'):
            with_row(NEW.replace('"bool"', '"date"'))

    def test_writes_a_file_only_if_it_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a/b"
            generate.write_changed(path, "x")
            before = path.stat().st_mtime_ns
            generate.write_changed(path, "x")
            self.assertEqual(path.stat().st_mtime_ns, before)
            generate.write_changed(path, "y")
            self.assertEqual(path.read_text(), "y")


if __name__ == "__main__":
    unittest.main()
