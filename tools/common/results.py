"""Documents of results, as JSON, and the machines that they come from. Documents that become pages lie in results/."""
import json
import os

from common import machine
from common.program import ROOT

RESULTS = ROOT / "results"
WIDTH = 120  # of a line of JSON
DIGITS = 9  # in published numbers: more than pages show, and fewer than clocks give

SAME = ("cpu", "cpu_family", "cpu_model", "processors")  # of machines whose results belong together


def load(path):
    """The document in this file. Raises ValueError with a sentence for the user."""
    try:
        return json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def write(path, results):
    """Writes the whole file or nothing, so that an interrupted run leaves a readable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text_of(results) + "\n")
    os.replace(unfinished, path)


def text_of(value, before=0, indent=0):
    """JSON with line breaks only inside values that do not fit on a line; `before`: the number of characters before the
    value on its line."""
    text = json.dumps(value)
    if before + len(text) < WIDTH or not isinstance(value, (dict, list)):
        return text
    inner = " " * (indent + 1)
    if isinstance(value, list):
        parts = [text_of(each, indent + 1, indent + 1) for each in value]
        opening, closing = "[]"
    else:
        named = [(json.dumps(name) + ": ", each) for name, each in value.items()]
        parts = [name + text_of(each, indent + 1 + len(name), indent + 1) for name, each in named]
        opening, closing = "{}"
    return opening + "\n" + ",\n".join(inner + part for part in parts) + "\n" + " " * indent + closing


def rounded(value):
    """The value with all numbers in it rounded to DIGITS."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, (list, tuple)) else value


def is_of_here(found, fields=SAME):
    """Whether a document comes from a machine like this one."""
    here = machine.describe()
    return all(found["machine"][field] == here[field] for field in fields)
