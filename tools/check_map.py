#!/usr/bin/env python3
"""Checks the figures of docs/architecture.md against src/.

In a flowchart, each node is a folder of src/. An arrow `a --> b` says that a calls b: the table of check_includes.py must
allow it, and a file of a must include one of b. A dotted arrow is a message between processes.

In a sequence diagram, each participant is a folder of src/, perhaps with a note in parentheses. The text of an arrow
`a->>b: Class::Function, a note` or `a-)b: Function` starts with the function that b's folder declares and that does the
work; one of `a-->>b: …` is a result.

Prints each mistake as FILE:LINE and exits with 1 if there is one.
"""
import pathlib
import re
import sys

import check_includes

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = "docs/architecture.md"

BLOCK = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NODE = re.compile(r"(\w+)\[([\w/]+)\]")
ARROW = re.compile(r"^\s*(\w+)(?:\[[\w/]+\])? (-->|-\.->) (\w+(?:\[[\w/]+\])?(?: & \w+(?:\[[\w/]+\])?)*)\s*$")
PARTICIPANT = re.compile(r"^\s*participant (\w+) as ([\w/]+)(?: \([^)]*\))?$")
MESSAGE = re.compile(r"^\s*(\w+)\s*(-->>|->>|-\))\s*(\w+): (.+)$")
NAME = re.compile(r"(?:(\w+)::)?(\w+)(?=,|$)")
# Lines of a diagram that are neither arrows nor participants.
OTHER = re.compile(r"^\s*(flowchart \w+|sequenceDiagram|subgraph .*|end|loop .*|opt .*|Note over .*|%%.*|)$")


class Tree:
    """The sources below a folder src/, without tests."""

    def __init__(self, source):
        self.source = source
        self.texts = {}

    def is_folder(self, name):
        return (self.source / name).is_dir()

    def text_of(self, folder):
        if folder not in self.texts:
            paths = [path for path in sorted((self.source / folder).rglob("*")) if path.suffix in (".h", ".cc", ".inc")]
            self.texts[folder] = "\n".join(path.read_text() for path in paths
                                           if not any("test" in part for part in path.relative_to(self.source).parts))
        return self.texts[folder]

    def includes(self, folder, other):
        return f'#include "{other}/' in self.text_of(folder)

    def declares(self, folder, owner, function):
        """Whether a file of the folder declares the function, of the class `owner` unless that is None."""
        text = self.text_of(folder)
        call = rf"\b{function}\("
        if owner is None:
            return re.search(rf"^\w[^;{{}}()=]*{call}", text, re.MULTILINE) is not None
        if re.search(rf"^\w[^;{{}}()]*\b{owner}::{function}\(", text, re.MULTILINE):
            return True
        return any(re.search(rf"(?<![.>:]){call}", body) for body in bodies(text, owner))


def bodies(text, name):
    """The text between the braces of each definition of a class."""
    for match in re.finditer(rf"\b(?:class|struct) {name}\b[^;{{(]*\{{", text):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield text[match.end():end]


def allows(folder, other):
    """Whether the table of includes lets the folder include the other one, or a header of it."""
    rows = check_includes.MAY_INCLUDE.get(folder, [])
    return any(row == other or row.startswith(other + "/") and "." in row for row in rows)


def faults_of_flowchart(lines, tree):
    """(index of the line, mistake) for each mistake."""
    folders = {}
    for index, line in enumerate(lines):
        for name, folder in NODE.findall(line):
            folders[name] = folder
            if not tree.is_folder(folder):
                yield index, f"src/ has no folder {folder}/"
    for index, line in enumerate(lines):
        arrow = ARROW.match(line)
        if not arrow:
            if not OTHER.match(line) and not NODE.fullmatch(line.strip()):
                yield index, f"cannot read {line.strip()}"
            continue
        names = [arrow[1], *(name.split("[")[0] for name in arrow[3].split(" & "))]
        if unknown := [name for name in names if name not in folders]:
            yield index, f"{unknown[0]} is not a node with a folder"
        elif arrow[2] == "-->":
            folder = folders[names[0]]
            for other in (folders[name] for name in names[1:]):
                if not allows(folder, other):
                    yield index, f"{folder}/ may not include {other}/"
                elif not tree.includes(folder, other):
                    yield index, f"{folder}/ includes nothing of {other}/"


def faults_of_sequence(lines, tree):
    """(index of the line, mistake) for each mistake."""
    folders = {}
    for index, line in enumerate(lines):
        if participant := PARTICIPANT.match(line):
            folders[participant[1]] = participant[2]
            if not tree.is_folder(participant[2]):
                yield index, f"src/ has no folder {participant[2]}/"
            continue
        message = MESSAGE.match(line)
        if not message:
            if not OTHER.match(line):
                yield index, f"cannot read {line.strip()}"
            continue
        if unknown := [name for name in (message[1], message[3]) if name not in folders]:
            yield index, f"{unknown[0]} is not a participant"
        elif message[2] != "-->>":
            name = NAME.match(message[4])
            folder = folders[message[3]]
            if not name or not tree.declares(folder, name[1], name[2]):
                yield index, f"src/{folder}/ declares no {message[4].split(',')[0]}"


def faults(text, tree):
    """(line number, mistake) for each mistake in the figures of a page."""
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1)) + 1
        lines = block[1].splitlines()
        find = faults_of_sequence if lines[0] == "sequenceDiagram" else faults_of_flowchart
        yield from ((first + index, mistake) for index, mistake in find(lines, tree))


def main():
    text = (ROOT / PAGE).read_text()
    found = [f"{PAGE}:{line}: {mistake}" for line, mistake in faults(text, Tree(ROOT / "src"))]
    print("\n".join(found) if found else f"{len(BLOCK.findall(text))} figures are as src/ has it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
