"""Makes the reference of C, C++, Python and REST: four pages and a front page, which a browser opens from a folder.

    python3 -m generators.reference [FOLDER]     FOLDER is build/reference if it is left out

The sources are the public headers, the Python package, and the OpenAPI document that the program tells.
"""
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable

from common.program import ROOT
from generators import page_types
from generators.reference_readers import Entry, public_names, read_header, read_modules, read_python, read_rest

# Modules of the Python package, and functions of it that are C++.
MODULES = ["sweeps", "onnxruntime", "torch"]
COMPILED = [Entry(("version", "build_id"), "The version of the library, and an id of its build.",
                  "def attune.version() -> str\ndef attune.build_id() -> str")]
TITLES = {"c": "C", "cpp": "C++", "python": "Python", "rest": "REST"}
STYLE = """
body { margin: 0; display: flex; font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff }
nav { width: 18em; flex: none; height: 100vh; position: sticky; top: 0; overflow: auto; background: #f4f4f4 }
nav ul { list-style: none; padding: 0 1em; font-size: 13px } nav p { padding: 0 1em }
main { max-width: 60em; padding: 0 2em 4em; min-width: 0 }
pre { background: #f4f4f4; padding: .6em 1em; overflow: auto; font-size: 13px } code { font-size: 90% }
table { border-collapse: collapse } td { border-top: 1px solid #ddd; padding: .2em .8em .2em 0; vertical-align: top }
a { color: #0a58ca; text-decoration: none } section:target { outline: 2px solid #d55e00 }
@media (max-width: 50em) { body { display: block } nav { width: auto; height: auto; position: static } }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #161616 } nav, pre { background: #222 } a { color: #8ab4f8 } }
"""


def prose(text: str) -> str:
    """Paragraphs, with those that are indented as code."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text):
        if all(line.startswith("  ") for line in paragraph.splitlines()):
            parts.append(f"<pre>{html.escape(paragraph)}</pre>" if paragraph.strip() else "")
        else:
            parts.append("<p>" + re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(" ".join(paragraph.split()))) + "</p>")
    return "\n".join(parts)


def section(entry: Entry) -> str:
    parts = [f"<h2>{html.escape(entry.heading)}</h2>" if entry.heading else ""]
    if entry.code:
        parts.append(f"<pre>{html.escape(entry.code)}</pre>")
    parts.append(prose(entry.prose))
    if entry.rows:
        cells = ["<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in entry.rows]
        parts.append("<table>" + "\n".join(cells) + "</table>")
    anchors = "".join(f'<a id="{html.escape(name)}"></a>' for name in entry.names[1:])
    first = f' id="{html.escape(entry.names[0])}"' if entry.names else ""
    return f"<section{first}>{anchors}" + "\n".join(parts) + "</section>"


def page(title: str, entries: list[Entry]) -> str:
    """A page with a list of all names beside it."""
    names = dict.fromkeys(name for entry in entries for name in entry.names)
    links = "\n".join(f'<li><a href="#{html.escape(name)}">{html.escape(name)}</a></li>' for name in names)
    others = " · ".join(f'<a href="{other}.html">{html.escape(text)}</a>' for other, text in TITLES.items())
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Attune: {html.escape(title)}</title><style>{STYLE}</style></head><body>
<nav><p><a href="index.html">Attune</a></p><p>{others}</p><ul>
{links}
</ul></nav>
<main><h1>{html.escape(title)}</h1>
{"".join(section(entry) + chr(10) for entry in entries)}</main></body></html>
"""


def generated_options(folder: pathlib.Path) -> pathlib.Path:
    """The folder with the header and the Python module that are made of the table of options."""
    subprocess.run([sys.executable, ROOT / "src/options/generate.py", folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def read_all(rest: bool = True) -> dict[str, list[Entry]]:
    """The entries of each page. Without `rest`, no server is started, and that page is empty."""
    include, package = ROOT / "include/attune", ROOT / "python/attune"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = generated_options(folder / "options")
        c_headers = [include / f"{name}.h" for name in ("attune", "compiler", "options", "results", "tensor")]
        headers = [include / "attune.hpp", include / "compiler.hpp", made / "include/attune/options.hpp", include / "tensor.hpp",
                   include / "error.hpp"]
        modules = [*sorted(package.glob("*.py")), made / "python/attune/_options.py"]
        return {"c": [entry for header in c_headers for entry in read_header(header)],
                "cpp": [entry for header in headers for entry in read_header(header)],
                "python": [*read_python(modules, public_names(package / "__init__.py")), *COMPILED,
                           *read_modules(MODULES, package)],
                "rest": list(read_rest(json.loads(page_types.document(folder)))) if rest else []}


def write(folder: pathlib.Path, pages: dict[str, Iterable[Entry]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, entries in pages.items():
        (folder / f"{name}.html").write_text(page(TITLES[name], list(entries)))
    front = [Entry((), "`attune/attune.h`: the runtime. It loads a compiled network and runs it. `attune/compiler.h`: load, "
                       "quantize, tune, compile.", heading="C"),
             Entry((), "`attune/attune.hpp`: the same for C++. `attune/compiler.hpp`: load, quantize, tune, compile.", heading="C++"),
             Entry((), "`import attune`", heading="Python"), Entry((), "`attune server --http`", heading="REST")]
    (folder / "index.html").write_text(page("Reference", front))


def main() -> int:
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/reference"
    write(folder, read_all())
    print(folder / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
