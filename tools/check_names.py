#!/usr/bin/env python3
"""Checks that no two headers of src/ give the same name to two things.

All code is in one namespace. Two types or inline constants with the same name in two headers compile as long as no file
includes both, and the linker then takes either one for both. Prints each such name with its locations and exits with 1
if there is one. Headers for tests, with test in their name or folder, count too.
"""
import collections
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src"

OPENS = re.compile(r"namespace ([\w:]+) \{$")
CLOSES = re.compile(r"\}  // namespace")
# At the beginning of a line: definitions within a class or a function do not count.
DEFINES = re.compile(r"(?:struct|class|enum class|enum) (\w+)\b(?!::)[^;]*$|inline constexpr [^=({]*?\b(\w+)(?:\[\w*\])? ?[={]")


def definitions(lines):
    """(name with its namespace, line number) for each type and inline constant of a header."""
    spaces = []
    for number, line in enumerate(lines, 1):
        if match := OPENS.match(line):
            spaces.append(match[1])
        elif CLOSES.match(line) and spaces:
            spaces.pop()
        elif match := DEFINES.match(line):
            yield "::".join([*spaces, match[1] or match[2]]), number


def main():
    places = collections.defaultdict(list)
    for path in sorted(SOURCE.rglob("*.h")):
        for name, number in definitions(path.read_text().splitlines()):
            places[name].append(f"src/{path.relative_to(SOURCE)}:{number}")
    found = {name: where for name, where in places.items() if len({place.split(":")[0] for place in where}) > 1}
    for name, where in sorted(found.items()):
        print(f"{where[0]}: {name} is also defined in {', '.join(where[1:])}")
    if not found:
        print(f"{len(places)} names are of one thing each")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
