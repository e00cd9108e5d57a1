"""Reads the public interfaces for the reference: headers of C and C++, the Python package, and the OpenAPI document."""
import ast
import dataclasses
import pathlib
import re
from collections.abc import Iterator
from typing import Any


@dataclasses.dataclass(frozen=True)
class Entry:
    """A declaration with its description. `names`: all that it declares, the first of which stands for it; none: prose.
    `rows`: cells of a table."""
    names: tuple[str, ...]
    prose: str
    code: str = ""
    rows: tuple[tuple[str, ...], ...] = ()
    heading: str = ""


# ---- Headers

COMMENT = re.compile(r"/\*(.*?)\*/\n|((?:^//[^\n]*\n)+)", re.DOTALL | re.MULTILINE)
# Lines that declare nothing which a program uses.
NOISE = re.compile(r'^(?:#.*(?:\\\n.*)*|namespace .*\{|\}  // namespace.*|extern "C" \{|\}$|class \w+;|(?:enum )?struct \w+;)\n',
                   re.MULTILINE)
# A constructor with its members' initial values.
CONSTRUCTOR = re.compile(r"^( *explicit [^;{]*?\))\s+: .*?\{\}\n", re.DOTALL | re.MULTILINE)
PRIVATE = re.compile(r"^ private:\n.*?(?=^\};)", re.DOTALL | re.MULTILINE)
# The body of a function, by the indentation of its first line and of its last one.
BODY = re.compile(r"^( *)((?![^\n]*\b(?:class|struct|enum)\b)[^\n]*\)(?: const)?(?:\n? +: [^{]*\)| *))\s*\{(?:[^\n]*\}|\n.*?^\1\})\n",
                  re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"(?:^(?:typedef )?(?:class|struct|enum class|enum)\s+(?:ATTUNE_EXPORT\s+)?|^using )(\w+)", re.MULTILINE)
FUNCTION = re.compile(r"(?:^|[\s*&>])(~?\w+)\((?!\*)")
CONSTANT = re.compile(r"\b(ATTUNE_[A-Z0-9_]+)\b")
NO_NAMES = re.compile(r"ATTUNE_EXPORT|\w+_|operator|return|span|sizeof")


def plain(comment: str) -> str:
    """The text of a comment without its marks."""
    return re.sub(r"^ ?(?:\* ?|// ?)", "", comment.strip("\n").rstrip(), flags=re.MULTILINE).strip("\n")


def names_in(code: str, space: str) -> tuple[str, ...]:
    """The names that a declaration declares: a type with its functions, functions, and in C constants. `space`: the
    namespace, with its colons."""
    bare = re.sub(r"//[^\n]*|/\*.*?\*/", "", code, flags=re.DOTALL)
    types = NAMED.findall(bare)
    functions = [name for name in FUNCTION.findall(bare) if not NO_NAMES.fullmatch(name)]
    if space:
        owner = f"{space}{types[0]}" if types else ""
        found = [owner, *(f"{owner}::{name}" for name in functions if name.strip("~") != types[0])] if types else [
            f"{space}{name}" for name in functions]
    else:
        found = [*types, *functions, *(name for name in CONSTANT.findall(bare) if not NO_NAMES.fullmatch(name))]
    return tuple(dict.fromkeys(found))


def read_header(path: pathlib.Path) -> Iterator[Entry]:
    """The prose at the start of a header, and each of its declarations."""
    text = path.read_text()
    first = COMMENT.match(text)
    assert first is not None, path
    yield Entry((), plain(first[1] or first[2]), heading=f"attune/{path.name}")
    text = text[first.end():]
    defined = re.findall(r"^#define (ATTUNE_(?!EXPORT)\w+ [^\n]*)\n", text, re.MULTILINE)
    space = re.search(r"^namespace attune::(\w+) \{$", text, re.MULTILINE)
    text = CONSTRUCTOR.sub(r"\1;\n", PRIVATE.sub("", text))
    text = NOISE.sub("", BODY.sub(lambda found: f"{found[1]}{found[2].rstrip()};\n", text))
    text = re.sub(r"\n\n+\};", "\n};", text)
    for block in re.split(r"\n\n+(?=\S)", text.strip("\n")):
        comment = COMMENT.match(block + "\n")
        prose = plain(comment[1] or comment[2]) if comment else ""
        code = block[comment.end():].strip("\n") if comment else block.strip("\n")
        if section := re.fullmatch(r"-+ (.*?) -+", prose.strip()):
            yield Entry((), "", heading=section[1])
        elif names_in(code, "") or prose:
            yield Entry(names_in(code, f"{space[1]}::" if space else ""), prose, code)
    if defined:
        yield Entry(tuple(line.split()[0] for line in defined), "", "\n".join(f"#define {line}" for line in defined))


# ---- Python

def signature(function: ast.FunctionDef, prefix: str = "") -> str:
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    marks = "".join(f"@{ast.unparse(mark)}\n" for mark in function.decorator_list)
    return f"{marks}def {prefix}{function.name}({ast.unparse(function.args)}){returns}"


def documented(node: ast.FunctionDef | ast.ClassDef | ast.Module) -> str:
    return ast.get_docstring(node) or ""


def methods(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> dict[str, ast.FunctionDef]:
    """The public methods of a class, with those that it inherits in the package."""
    found: dict[str, ast.FunctionDef] = {}
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            found |= methods(classes[base.id], classes)
    return found | {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)
                    and (not item.name.startswith("_") or item.name == "__init__" and documented(item))}


def read_modules(names: list[str], package: pathlib.Path) -> Iterator[Entry]:
    """The modules of the package that have public functions of their own, or a list of names."""
    for name in names:
        path = package / name / "__init__.py" if (package / name).is_dir() else package / f"{name}.py"
        tree = ast.parse(path.read_text())
        yield Entry((name,), documented(tree), f"import attune.{name}", heading=name)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield Entry((f"{name}.{node.name}",), documented(node), signature(node, f"attune.{name}."))


def read_python(files: list[pathlib.Path], public: list[str]) -> Iterator[Entry]:
    """The public names of the package, whose modules are given."""
    trees = [ast.parse(path.read_text()) for path in files]
    nodes = [node for tree in trees for node in tree.body]
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    for name in public:
        if name in functions:
            yield Entry((name,), documented(functions[name]), signature(functions[name], "attune."))
        elif name in classes:
            node = classes[name]
            bases = f"({', '.join(map(ast.unparse, node.bases))})" if node.bases else ""
            fields = [ast.unparse(item) for item in node.body if isinstance(item, ast.AnnAssign)]
            yield Entry((name,), documented(node), "\n    ".join([f"class attune.{name}{bases}", *fields]), heading=name)
            for method, function in methods(node, classes).items():
                yield Entry((f"{name}.{method}",), documented(function), signature(function))


def public_names(init: pathlib.Path) -> list[str]:
    """`__all__` of a module."""
    for node in ast.parse(init.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise AssertionError(f"{init}: has no __all__")


# ---- REST

def resolved(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        found: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema


def fields(schema: dict[str, Any], document: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """(name, type, description) of the fields of an object, with those of objects in it."""
    schema = resolved(schema, document)
    if schema.get("type") == "array":
        yield from fields(schema.get("items", {}), document, f"{prefix}[].")
    for name, one in schema.get("properties", {}).items():
        one = resolved(one, document)
        kind = one.get("type", "any")
        types = " or ".join(kind) if isinstance(kind, list) else kind
        needed = "" if name in schema.get("required", []) else ", optional"
        values = f": {', '.join(map(str, one['enum']))}" if "enum" in one else ""
        yield f"{prefix}{name}", f"{types}{needed}{values}", one.get("description", "")
        inner = one.get("items", one) if kind == "array" else one
        yield from fields(inner, document, f"{prefix}{name}{'[]' if kind == 'array' else ''}.")


def read_rest(document: dict[str, Any]) -> Iterator[Entry]:
    """Each operation of the document."""
    yield Entry((), document["info"]["description"], heading=f"REST {document['info']['version']}")
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            rows = [(parameter["name"], f"in {parameter['in']}", parameter.get("description", ""))
                    for parameter in (resolved(one, document) for one in operation.get("parameters", []))]
            for content in operation.get("requestBody", {}).get("content", {}).values():
                rows += [(name, f"body, {kind}", text) for name, kind, text in fields(content.get("schema", {}), document)]
            for status, answer in operation["responses"].items():
                answer = resolved(answer, document)
                rows.append((str(status), "answer", answer.get("description", "")))
                if str(status).startswith("2"):
                    for content in answer.get("content", {}).values():
                        rows += [(name, f"in the answer, {kind}", text)
                                 for name, kind, text in fields(content.get("schema", {}), document)]
            prose = "\n\n".join(filter(None, (operation.get("summary", ""), operation.get("description", ""))))
            yield Entry((operation.get("operationId", f"{method} {path}"),), prose, f"{method.upper()} {path}", tuple(rows))
