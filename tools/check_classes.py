#!/usr/bin/env python3
"""Checks that no class of src/ has both many functions and much state: more than 20 member functions and more than 10
data members.

A class with many functions and little state is a vocabulary, and one with much state and few functions is a record; one
with both does several jobs. Prints each such class as FILE:LINE and exits with 1 if there is one. Private functions
count too; deleted functions, static data and the members of nested classes do not. Tests and their helpers may be as
they like.

check_classes.py           checks
check_classes.py --list N  prints the N classes that come closest
"""
import argparse
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src"

MAX_FUNCTIONS, MAX_MEMBERS = 20, 10

# Classes that may have more of both, each with the reason.
EXEMPT = {
    "NestEmitter": "one function for each kind of statement, and the emitters that these functions use",
}

# One pass over comments and literals, so that neither is looked for inside the other. The quotes of 10'000 are no
# literals.
NO_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
CLASS = re.compile(r"(?:class|struct|union)\s+([\w:]*)(?:<[^{]*>)?\s*(?:final\s*)?(?::[^:].*)?", re.DOTALL)
SPACE = re.compile(r'(?:inline\s+)?namespace\b|extern\s*""\s*$')
ACCESS = re.compile(r"(?:public|protected|private)\s*:(?!:)")
NO_MEMBER = re.compile(r"(?:using|typedef|friend|static_assert)\b|"
                       r"(?:enum\s+)?(?:class|struct|union|enum)\s+[\w:]+(?:\s*:\s*[\w:]+)?\s*$")
# These have parentheses and make no function of a declaration: attributes, and macros such as GUARDED_BY(mutex_).
ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\b(?:alignas|decltype|[A-Z][A-Z0-9_]{2,})\s*\([^()]*\)")

NO_PREFIX = ("attune", "namespace", '""')  # the namespace of all code, and those without a name
SPACES, STOP = re.compile(r"\s*"), re.compile("[;{]")
BRACKETS = {"(": re.compile("[()]"), "<": re.compile("[<>]")}


def blank(match):
    """Spaces and line breaks in the place of a comment or literal, so that positions stay."""
    text = re.sub(r"[^\n]", " ", match[0])
    return f'""{text[2:]}' if match[0][0] in '"R' else text


def skip_space(text, i):
    return SPACES.match(text, i).end()


def end_of(text, start, brackets=re.compile("[{}]")):
    """The position behind the bracket that closes the one at `start`."""
    depth = 0
    for match in brackets.finditer(text, start):
        depth += 1 if match[0] in "{(<" else -1
        if depth == 0:
            return match.end()
    return len(text)


def without_template(text):
    """The declaration without the template parameters that it begins with."""
    text = text.lstrip()
    while match := re.match(r"template\s*(?=<)", text):
        text = text[end_of(text, match.end(), BRACKETS["<"]):].lstrip()
    return text


def declarations(text, start, end):
    """(its text up to its body, its position, the position of its body or None) of each declaration in a block. Braces
    that initialize a member are left out."""
    i, first, words = start, None, ""
    while i < end:
        if first is None:
            i = skip_space(text, i)
            if label := ACCESS.match(text, i):
                i = label.end()
                continue
            first, words = i, ""
        stop = STOP.search(text, i, end)
        if stop is None:
            return
        words += text[i:stop.start()]
        i = stop.end()
        if stop[0] == ";":
            yield words, first, None
            first = None
            continue
        i = end_of(text, stop.start())
        if words.count("(") > words.count(")"):  # a default argument, or the body of a lambda
            continue
        declared = without_template(words).strip()
        follows = skip_space(text, i)
        has_body = SPACE.match(declared) or CLASS.fullmatch(declared)
        if has_body or follows >= end or text[follows] not in ";,{":
            yield words, first, stop.start()
            first = None


def flatten(declaration):
    """The declaration without what stands in its angle brackets and parentheses; of a pointer to a function stays
    "(*"."""
    out, i = "", 0
    while i < len(declaration):
        c = declaration[i]
        if c == "(" or c == "<" and re.search(r"\w\s*$", out):
            if re.match(r"\(\s*(?:\w+::)*[*&]", declaration[i:]):
                out += "(*"
            else:
                out += c
            i = end_of(declaration, i, BRACKETS[c])
            continue
        out += c
        i += 1
    return out


def count(declaration):
    """(member functions, data members) that a declaration adds to its class."""
    text = ATTRIBUTE.sub(" ", without_template(declaration)).strip()
    if not text or NO_MEMBER.match(text):
        return 0, 0
    is_deleted = re.search(r"=\s*delete\s*$", text)
    if re.search(r"\boperator\b", text):
        return 0 if is_deleted else 1, 0
    flat = flatten(text.replace("->", "  "))
    declarator = flat.split("=")[0]
    if "(" in declarator and declarator.find("(") != declarator.find("(*"):
        return 0 if is_deleted else 1, 0
    return 0, 0 if text.startswith("static ") else 1 + flat.count(",")


def classes(text, start, end):
    """(name, position, member functions, data members) of each class in a block."""
    for words, first, body in declarations(text, start, end):
        declared = without_template(words).strip()
        if body is None:
            continue
        after = end_of(text, body)
        if SPACE.match(declared):
            space = declared.split()[-1].removeprefix("attune::")
            inner = classes(text, body + 1, after - 1)
            yield from inner if space in NO_PREFIX else ((f"{space}::{name}", *rest) for name, *rest in inner)
        elif match := CLASS.fullmatch(declared):
            members = list(declarations(text, body + 1, after - 1))
            counts = [count(member) for member, _, its_body in members
                      if its_body is None or not CLASS.fullmatch(without_template(member).strip())]
            yield match[1], first, sum(c[0] for c in counts), sum(c[1] for c in counts)
            yield from ((f"{match[1]}::{name}", *rest) for name, *rest in classes(text, body + 1, after - 1))


def classes_of(text):
    """(name, line, member functions, data members) of each class in the text of a file."""
    text = DIRECTIVE.sub(blank, NO_CODE.sub(blank, text))
    for name, position, functions, members in classes(text, 0, len(text)):
        yield name, text.count("\n", 0, position) + 1, functions, members


def all_classes():
    """(name, place, member functions, data members) of each class of src/."""
    for path in sorted(SOURCE.rglob("*")):
        if path.suffix in (".h", ".cc") and not any("test" in part for part in path.relative_to(SOURCE).parts):
            for name, line, functions, members in classes_of(path.read_text()):
                yield name, f"src/{path.relative_to(SOURCE)}:{line}", functions, members


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=int, default=0, metavar="N")
    options = parser.parse_args()
    found = list(all_classes())
    nearest = sorted(found, key=lambda c: min(c[2] / MAX_FUNCTIONS, c[3] / MAX_MEMBERS), reverse=True)
    for name, place, functions, members in nearest[:options.list]:
        print(f"{place}: {name} has {functions} functions and {members} data members")
    if options.list:
        return 0
    large = {name: f"{place}: {name} has {functions} functions and {members} data members: it does several jobs"
             for name, place, functions, members in found if functions > MAX_FUNCTIONS and members > MAX_MEMBERS}
    lines = [line for name, line in large.items() if name not in EXEMPT]
    lines += [f"tools/check_classes.py: {name} needs no exemption" for name in EXEMPT if name not in large]
    print("\n".join(lines) if lines else
          f"{len(found)} classes have few functions or little state, but for {len(EXEMPT)} exempt ones")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
