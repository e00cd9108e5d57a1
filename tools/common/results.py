"""Documents of results, as JSON, and of which machine they are."""
import json
import os

from common import machine

SAME = ("cpu", "cpu_family", "cpu_model", "processors")  # of machines whose results belong together


def load(path):
    """The document of this file. Raises ValueError with a sentence for the user."""
    try:
        return json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def write(path, results):
    """All of it or nothing, so that a run that is ended leaves a file that can be read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(results, indent=1) + "\n")
    os.replace(unfinished, path)


def is_of_here(found, fields=SAME):
    """Whether a document is of a machine like this one."""
    here = machine.describe()
    return all(found["machine"][field] == here[field] for field in fields)
