#!/usr/bin/env python3
"""Makes C++, Python and docs/options.md of options.toml.

generate.py FOLDER            writes into the folder, each file only if it changes: include/attune/options.hpp, the public
                              structs; options/, headers and a source for the tree; python/attune/_options.py
generate.py --update-docs     writes docs/options.md
"""
import pathlib
import sys

from generator import cpp, page, python
from generator.table import TableError, read_table

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs/options.md"
FILES = {"include/attune/options.hpp": cpp.public_header, "options/settings.h": cpp.settings_header,
         "options/settings.cc": cpp.settings_source, "options/public_options.h": cpp.public_to_settings,
         "options/python_options.h": cpp.python_bindings, "python/attune/_options.py": python.python_module}


def write_changed(path, text):
    """Leaves a file with this text as it is, so that nothing is compiled again for it."""
    if path.exists() and path.read_text() == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        table = read_table(HERE / "options.toml")
    except TableError as error:
        print(f"options.toml: {error}", file=sys.stderr)
        return 1
    if arguments[0] == "--update-docs":
        write_changed(PAGE, page.options_page(table))
        return 0
    for name, make in FILES.items():
        write_changed(pathlib.Path(arguments[0]) / name, make(table))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
