"""The manual page of the program, made of what its --help prints."""
import pathlib
import re

from packages.release import run

# "  name   text", where the text may begin on the next line; its other lines are indented alike.
ENTRY = re.compile(r"^  (\S.*?)(?: {2,}(\S.*))?$")
TEXT = re.compile(r"^ {20,}(\S.*)$")


def escaped(text: str) -> str:
    """Text as troff prints it literally."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def subcommands(text: str) -> list[str]:
    """The names in the last section of a help text."""
    _, found, names = text.partition("\nSubcommands:\n")
    return [entry[1] for entry in map(ENTRY.match, names.splitlines()) if entry] if found else []


def entries(text: str) -> list[str]:
    """A help text, from its usage on, in troff."""
    lines = []
    for line in text.splitlines():
        if more := TEXT.match(line):
            lines.append(escaped(more[1]))
        elif entry := ENTRY.match(line):
            lines += [".TP", f"\\fB{escaped(entry[1])}\\fR", *([escaped(entry[2])] if entry[2] else [])]
        elif line:
            lines += [".PP", escaped(line)]
    return lines


def sections(program: pathlib.Path, command: list[str]) -> list[str]:
    """A section for a command, and those of its subcommands."""
    text = run(program, *command, "--help")
    lines = [f".SS \"{escaped(' '.join(['attune', *command]))}\"", *entries(text)]
    for name in subcommands(text):
        lines += sections(program, [*command, name])
    return lines


def man_page(program: pathlib.Path, summary: str, version: str, date: str) -> str:
    """The page in section 1 of the program, whose commands people type after `attune`."""
    return "\n".join([
        f".TH {program.name.upper()} 1 \"{date}\" \"attune {version}\" \"User Commands\"",
        ".SH NAME", f"{escaped(program.name)} \\- {summary}",
        ".SH SYNOPSIS", ".B attune", "\\fICOMMAND\\fR [\\fIOPTION\\fR ...]",
        ".SH COMMANDS", *sections(program, []),
        ".SH EXIT STATUS", "0: done. 1: could not. 2: wrong usage.", ""])
