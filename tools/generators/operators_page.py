"""Writes docs/operators.md: which operators of each format are supported, by the program's own list.

operators_page.py    needs the program, and the package onnx for the list of all of ONNX's operators
"""
import textwrap

from common.program import ROOT, attune_json

PAGE = ROOT / "docs/operators.md"
NEWEST_OPSET = 26  # that the importer takes

HEAD = """# Operators

Which operators Attune takes from each model format. `attune operators` prints the lists; this page is made of it and of ONNX's
own list by `PYTHONPATH=tools build/python/bin/python -m generators.operators_page`, and a test compares the two.

An operator that stands here may still be refused for an attribute or a type that is not supported: `attune inspect MODEL`
names all such places of a model at once. [How an operator is added](guides/add-an-operator.md).
"""


def onnx_operators():
    """Returns the names of the operators in ONNX's default domain, up to the newest opset that is imported."""
    import onnx.defs  # only the generator and its test need it

    latest = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= NEWEST_OPSET:
            known = latest.get(schema.name)
            if known is None or known.since_version < schema.since_version:
                latest[schema.name] = schema
    return {name for name, schema in latest.items() if not schema.deprecated}


def name_of(operator):
    """Returns a cell's text for an operator."""
    name = f"{operator['domain']}.{operator['name']}" if "domain" in operator else operator["name"]
    return f"`{name}`" + (f" (until opset {operator['until_opset']})" if "until_opset" in operator else "")


def wrapped(text):
    """Returns the text in lines of at most 120 characters."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def known_names(formats):
    """Returns {format: names of all its operators}, without formats of which no list is at hand."""
    tflite = formats["tflite"]
    return {"onnx": onnx_operators(),
            "tflite": {entry["name"] for entry in tflite["operators"] + tflite["refused"]}}


def coverage_row(entry, known):
    """Returns the format's row of the table."""
    names = {operator["name"] for operator in entry["operators"]}
    of_all = f"{len(names & known)} of {len(known)}" if known else str(len(entry["operators"]))
    return f"| {entry['name']} | {of_all} | {entry['remark']} |"


def section(entry, known):
    """Returns a format's lists."""
    parts = [f"## {entry['name']}", wrapped(", ".join(map(name_of, entry["operators"])) + ".")]
    reasons = {}
    for operator in entry["refused"]:
        reasons.setdefault(operator["reason"], []).append(name_of(operator))
    listed = {operator["name"] for operator in entry["operators"] + entry["refused"]}
    if missing := sorted(known - listed):
        reasons.setdefault("it is not implemented", []).extend(f"`{name}`" for name in missing)
    if reasons:
        parts.append("Not supported:")
        parts.append("\n".join(textwrap.fill(f"- {reason}: {', '.join(names)}", 120, subsequent_indent="  ",
                                             break_long_words=False, break_on_hyphens=False)
                               for reason, names in sorted(reasons.items())))
    return "\n\n".join(parts)


def operators_page(formats):
    """Returns the page. formats: those of `attune operators --json -`."""
    known = known_names({entry["format"]: entry for entry in formats})
    table = ["| format | operators | remark |", "|---|---|---|",
             *(coverage_row(entry, known.get(entry["format"], set())) for entry in formats)]
    sections = [section(entry, known.get(entry["format"], set())) for entry in formats]
    about = wrapped(f"ONNX's are those of its default domain up to opset {NEWEST_OPSET} that are not deprecated; TensorFlow and "
                    "PyTorch have no list of all operators that would be a measure.")
    return "\n\n".join([HEAD.strip(), "\n".join(table), about, *sections]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(operators_page(attune_json("operators")["formats"]))
