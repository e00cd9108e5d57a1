"""The ratchet: how often the prose that only developers read breaks each rule, by folder.

prose_counts.json has the numbers that are allowed. A number may only fall; an update writes lower numbers, and refuses
if a rule would be broken more often in the whole tree than before. Files that move between folders carry their counts
along: one folder's number may rise by what another's falls.
"""
import collections
import json
import pathlib
from typing import Iterable

from prose.rules import Finding

FILE = pathlib.Path(__file__).resolve().parent.parent / "prose_counts.json"

Counts = dict[str, dict[str, int]]  # by folder and rule


def folder_of(path: str) -> str:
    """The folder that a file counts for: two levels, or one for files directly in it."""
    return "/".join(path.split("/")[:-1][:2])


def count(found: Iterable[Finding]) -> Counts:
    """The number of findings by folder and rule, both in order."""
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for one in found:
        counts[folder_of(one.passage.path)][one.rule] += 1
    return {folder: dict(sorted(rules.items())) for folder, rules in sorted(counts.items())}


def totals(counts: Counts) -> collections.Counter[str]:
    """The numbers by rule alone."""
    return sum((collections.Counter(rules) for rules in counts.values()), collections.Counter())


def differences(now: Counts, stored: Counts) -> list[tuple[str, str, int, int]]:
    """(folder, rule, number now, stored number) wherever these differ."""
    keys = sorted({(folder, rule) for counts in (now, stored) for folder, rules in counts.items() for rule in rules})
    numbers = [(folder, rule, now.get(folder, {}).get(rule, 0), stored.get(folder, {}).get(rule, 0)) for folder, rule in keys]
    return [one for one in numbers if one[2] != one[3]]


def rises(now: Counts, stored: Counts) -> dict[str, int]:
    """The rules that are broken more often than before, and by how much."""
    return dict(totals(now) - totals(stored))


def load(file: pathlib.Path = FILE) -> Counts:
    return json.loads(file.read_text()) if file.exists() else {}


def save(counts: Counts, file: pathlib.Path = FILE) -> None:
    """Writes a folder a line, so that changes of different folders merge."""
    lines = [f"  {json.dumps(folder)}: {json.dumps(rules)}" for folder, rules in sorted(counts.items())]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
