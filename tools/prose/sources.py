"""Reads the prose of the tree: comments, docstrings, messages, labels of the page and documents.

A passage is one run of prose: a comment with its continuation lines, a docstring, a string literal with those that
follow it directly, a paragraph, a cell of a table. Users see a passage if it is a message of the product (a string
literal in src, python/attune, python/src or web/src), or if it is anywhere in a public header, in python/attune, in the
table of passes, in a document outside docs/decisions, in an example, or in the usage of ./do.

The readers are regular expressions rather than parsers, so that the whole tree takes a second or two.
"""
import bisect
import dataclasses
import json
import pathlib
import re
import subprocess
from typing import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

CPP = (".cc", ".h", ".hpp", ".c", ".inc")
TYPESCRIPT = (".ts", ".tsx")

# Users read all prose of these. The program prints the table of passes.
PUBLIC = ("include/", "python/attune/", "docs/", "src/opt/pass_table.inc", "README.md", "CHANGELOG.md", "CONTRIBUTING.md",
          "SECURITY.md", "python/README.md", "do")
# Users read the string literals of these.
PRODUCT = ("src/", "python/src/", "web/src/")
SOURCES = ("src/", "include/", "python/", "tests/", "benchmarks/", "tools/", "docs/", "web/src/")
# Decisions are records of their time. Files of words that must be found, and files that a generator writes from messages
# which are read where they are written.
LEFT_OUT = ("docs/decisions/", "tools/prose/", "tools/check_prose.py", "tests/prose/", "web/src/api/schema.d.ts")


@dataclasses.dataclass(frozen=True)
class Passage:
    """One run of prose. `text` has one space for each run of white space; `is_message`: a string literal; `is_piece`: one
    that continues the text before it in the message that it is put into, since it opens with a space."""
    path: str
    line: int
    text: str
    is_message: bool = False
    is_piece: bool = False
    is_heading: bool = False
    is_public: bool = False


def is_test(path: str) -> bool:
    return any("test" in part for part in pathlib.PurePath(path).parts)


def is_public(path: str, is_message: bool) -> bool:
    """Whether users see a passage of the file."""
    if any(path == one or one.endswith("/") and path.startswith(one) for one in PUBLIC):
        return True
    return is_message and path.startswith(PRODUCT) and not is_test(path)


CPP_TOKEN = re.compile(
    r'//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"'
    r'|"(?P<string>(?:[^"\\\n]|\\.)*)"|' r"(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'", re.DOTALL)
PYTHON_TOKEN = re.compile(
    r'(?P<triple>"""|' r"''')(?P<long>.*?)(?P=triple)" r'|"(?P<string>(?:[^"\\\n]|\\.)*)"'
    r"|'(?P<single>(?:[^'\\\n]|\\.)*)'" r"|\#(?P<line>[^\n]*)", re.DOTALL)
TYPESCRIPT_TOKEN = re.compile(
    r'(?<![:\\])//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/|"(?P<string>(?:[^"\\\n]|\\.)*)"'
    r"|(?<![A-Za-z])'(?P<single>(?:[^'\\\n]|\\.)*)'" r"|`(?P<raw>(?:[^`\\]|\\.)*)`", re.DOTALL)
# Text between tags and expressions. What looks like code is none.
JSX_TEXT = re.compile(r"(?<=[>}])(?P<text>[^<>{}]+)(?=[<{])")
CODE = re.compile(r"[;=|]|&&|\bfunction\b|^\s*[,):\]]")

ESCAPES = {"n": "\n", "t": " ", '"': '"', "'": "'", "\\": "\\"}
WORDS = re.compile(r"[A-Za-z]{2,}[^A-Za-z\s]*\s+[^A-Za-z\s]*[A-Za-z]")
NO_PROSE = re.compile(r"\w+_H_$|namespace\b|NOLINT|clang-format o|type: ignore|noqa")


class Lines:
    """The line numbers and columns of offsets of a text."""

    def __init__(self, text: str):
        self.text = text
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line(self, offset: int) -> int:
        return bisect.bisect_right(self.starts, offset)

    def before(self, offset: int) -> str:
        """What stands before it in its line."""
        return self.text[self.starts[self.line(offset) - 1]:offset]


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], " "), text, flags=re.DOTALL)


def paragraphs(text: str, line: int) -> Iterator[tuple[int, str]]:
    """(line, text) for each paragraph and item of a list. `line` is that of the text's start."""
    found: list[str] = []
    first = line
    for number, one in enumerate(text.split("\n"), line):
        bare = one.strip().strip("*").strip() if one.strip() in ("*", "/", "") else one.strip()
        item = re.match(r"(?:[-*•]|\d+[.)]|@\w+|\\\w+)\s+", bare)
        if not bare or item:
            if found:
                yield first, " ".join(found)
            found = []
        bare = bare[item.end():] if item else bare
        if bare:
            first = first if found else number
            found.append(bare)
    if found:
        yield first, " ".join(found)


class Comments:
    """Joins comments that continue on the next lines in the same column."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []
        self.next: tuple[int, int] | None = None  # line and column of a continuation

    def add(self, line: int, column: int, text: str, is_alone: bool) -> None:
        if is_alone and self.next == (line, column):
            self.found[-1] = (self.found[-1][0], self.found[-1][1] + "\n" + text)
        else:
            self.found.append((line, text))
        self.next = (line + 1, column)

    def passages(self, path: str) -> Iterator[Passage]:
        for line, text in self.found:
            for at, paragraph in paragraphs(text, line):
                if WORDS.search(paragraph) and not NO_PROSE.match(paragraph):
                    yield Passage(path, at, paragraph)


def read_code(path: str, text: str, token: re.Pattern[str]) -> Iterator[Passage]:
    """The comments, docstrings and string literals of a file."""
    lines = Lines(text)
    comments = Comments()
    literal: list[tuple[int, str]] = []
    end = 0
    for match in token.finditer(text):
        groups = match.groupdict()
        comment = groups.get("line")
        string = next((groups[name] for name in ("string", "single", "raw", "long") if groups.get(name) is not None), None)
        is_joined = string is not None and literal and not text[end:match.start()].strip(" \n\trfbu\\")
        if literal and not is_joined and (string is not None or comment is None):
            yield from message(path, literal)
            literal = []
        if comment is not None:
            before = lines.before(match.start())
            comments.add(lines.line(match.start()), len(before), comment.lstrip("/!<"), not before.strip())
        elif groups.get("block") is not None:
            for at, paragraph in paragraphs(re.sub(r"\n\s*\*", "\n", groups["block"].lstrip("*!<")), lines.line(match.start())):
                yield Passage(path, at, paragraph)
        elif groups.get("long") is not None and not lines.before(match.start()).strip(" rfbu"):
            for at, paragraph in paragraphs(groups["long"], lines.line(match.start())):
                yield Passage(path, at, paragraph)
        elif string is not None:
            plain = string if groups.get("raw") is not None else unescaped(string)
            literal.append((lines.line(match.start()), plain))
            end = match.end()
    if literal:
        yield from message(path, literal)
    yield from comments.passages(path)


def message(path: str, literal: list[tuple[int, str]]) -> Iterator[Passage]:
    """The passages of string literals that the compiler joins."""
    is_piece = literal[0][1].startswith(" ")
    for line, text in paragraphs("".join(text for _, text in literal), literal[0][0]):
        if WORDS.search(text):
            yield Passage(path, min(line, literal[-1][0]), text, is_message=True, is_piece=is_piece)
        is_piece = False


def read_page(path: str, text: str) -> Iterator[Passage]:
    """Reads a component of the page: code, and the text between tags."""
    yield from read_code(path, text, TYPESCRIPT_TOKEN)
    lines = Lines(text)
    blank = TYPESCRIPT_TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text) if path.endswith(".tsx") else ""
    for match in JSX_TEXT.finditer(blank):
        if WORDS.search(match["text"]) and not CODE.search(match["text"]):
            yield Passage(path, lines.line(match.start() + len(match[0]) - len(match[0].lstrip())),
                          " ".join(match["text"].split()), is_message=True)


def without_code(text: str) -> list[str]:
    """The lines of a document, with those of code blocks empty."""
    text = re.sub(r"^```.*?^```$|<!--.*?-->", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    found: list[str] = []
    for line in text.split("\n"):
        is_code = line.startswith("    ") and (not found or not found[-1])
        found.append("" if is_code else line)
    return found


def read_markdown(path: str, text: str) -> Iterator[Passage]:
    """The paragraphs, headings, items and cells of a document."""
    block: list[str] = []
    for number, line in enumerate([*without_code(text), ""], 1):
        if line.startswith(("#", "|")):
            parts = [line.lstrip("# ")] if line.startswith("#") else line.strip("|").split("|")
            for part in parts:
                if WORDS.search(part):
                    yield Passage(path, number, part.strip(), is_heading=line.startswith("#"))
            line = ""
        if line:
            block.append(line)
        else:
            for at, paragraph in paragraphs("\n".join(block), number - len(block)):
                yield Passage(path, at, paragraph)
            block = []


def read_notebook(path: str, text: str) -> Iterator[Passage]:
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        yield from read_markdown(path, source) if cell["cell_type"] == "markdown" else read_code(path, source, PYTHON_TOKEN)


def read_usage(path: str, text: str) -> Iterator[Passage]:
    """The usage of ./do, whose second column is prose."""
    usage = text[text.index("<<'TEXT'"):text.index("\nTEXT\n")]
    first = text[:text.index("<<'TEXT'")].count("\n") + 1
    for number, line in enumerate(usage.split("\n"), first):
        column = re.split(r" {2,}", line.strip())[-1]
        if WORDS.search(column):
            yield Passage(path, number, column, is_message=True)


def read(path: str, text: str) -> Iterator[Passage]:
    """The passages of a file, by its name."""
    suffix = pathlib.PurePath(path).suffix
    if path == "do":
        found = read_usage(path, text)
    elif suffix in CPP:
        found = read_code(path, text, CPP_TOKEN)
    elif suffix == ".py":
        found = read_code(path, text, PYTHON_TOKEN)
    elif suffix in TYPESCRIPT:
        found = read_page(path, text)
    elif suffix == ".md":
        found = read_markdown(path, text)
    elif suffix == ".ipynb":
        found = read_notebook(path, text)
    else:
        return
    for passage in found:
        yield dataclasses.replace(passage, is_public=is_public(path, passage.is_message))


def files() -> list[str]:
    """The paths of the files with prose that is judged, relative to the root, as far as git knows or would add them."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split("\n")
    return [path for path in sorted(set(listed))
            if (path.startswith(SOURCES) or path in PUBLIC) and not path.startswith(LEFT_OUT) and (ROOT / path).is_file()]


def passages() -> Iterator[Passage]:
    """All of the tree."""
    for path in files():
        if path == "do" or pathlib.PurePath(path).suffix in (*CPP, *TYPESCRIPT, ".py", ".md", ".ipynb"):
            yield from read(path, (ROOT / path).read_text())
