#!/usr/bin/env python3
"""Makes C++, Python and docs/options.md of options.toml.

generate.py FOLDER            writes into the folder, each file only if it changes: include/attune/, the public
                              structs and what they are in C; options/, headers and a source for the tree; python/attune/_options.py
generate.py --update-docs     writes docs/options.md
"""
import argparse
import pathlib
import sys

from generator import cpp, page, python
from generator.table import TableError, read_table

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs/options.md"
FILES = {"include/attune/options.hpp": cpp.public_header, "options/settings.h": cpp.settings_header,
         "options/settings.cc": cpp.settings_source, "include/attune/detail/options.hpp": cpp.public_to_c,
         "options/python_options.h": cpp.python_bindings, "python/attune/_options.py": python.python_module}


def write_changed(path, text):
    """Leaves a file with this text as it is, so that nothing is compiled again for it."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("folder", nargs="?", type=pathlib.Path)
    what.add_argument("--update-docs", action="store_true")
    given = parser.parse_args()
    try:
        table = read_table(HERE / "options.toml")
    except TableError as error:
        sys.exit(f"options.toml: {error}")
    if given.update_docs:
        write_changed(PAGE, page.options_page(table))
    else:
        for name, make in FILES.items():
            write_changed(given.folder / name, make(table))


if __name__ == "__main__":
    main()
