"""Reads options.toml, and refuses a table that contradicts itself."""
import dataclasses
import pathlib
import tomllib
from typing import Any

FACES = ("cli", "job", "variant", "cpp", "python", "torch")
# By section: the step, unless a row says otherwise, and everywhere that an option is offered unless `only` says otherwise.
SECTIONS = {"compile": ("compile", ("cli", "job", "cpp", "python", "torch")),
            "tune": ("tune", ("cli", "job", "cpp", "python")),
            "quantize": ("quantize", ("cli", "variant", "cpp", "python")),
            "picture": ("picture", ("cli", "job", "cpp", "python")),
            "tuning_job": ("", ("job",)), "quantization_job": ("", ("job",))}

# The type of C++, its value unless the table has another, and the type of Python.
TYPES = {"bool": ("bool", False, "bool"), "int": ("int", 0, "int"), "int64": ("int64_t", 0, "int"),
         "uint64": ("uint64_t", 0, "int"), "float": ("double", 0.0, "float"), "seconds": ("double", 0.0, "float"),
         "share": ("double", 0.0, "float"), "text": ("std::string", "", "str"), "channels": ("std::string", "", "float | Sequence[float]"),
         "path": ("std::string", "", "str | os.PathLike[str]"), "output": ("std::string", "", "str | os.PathLike[str]"),
         "plan": ("std::optional<std::string>", "", "str"), "texts": ("std::vector<std::string>", "", "Sequence[str]"),
         "choice": ("std::string", "", "str"), "arrays": ("", "", "Arrays | None")}
NUMBERS = ("int", "int64", "uint64", "float")


class TableError(Exception):
    """The table is wrong; the text says where."""


@dataclasses.dataclass(frozen=True)
class Value:
    """A value of an enum. `is_`: the internal enumerator; `public`: that of the public one; empty: it has none."""
    name: str
    is_: str
    public: str = ""
    help: str = ""


@dataclasses.dataclass(frozen=True)
class Enum:
    type: str
    values: tuple[Value, ...]
    own: bool = False
    has_names: bool = False
    public: str = ""
    help: str = ""

    @property
    def public_values(self) -> list[Value]:
        return [value for value in self.values if value.public]

    def internal(self, value: Value) -> str:
        return value.is_ if self.type == "bool" else f"{self.type}::{value.is_}"


@dataclasses.dataclass(frozen=True)
class Option:
    """A row. The head of options.toml says what the keys mean."""
    name: str
    section: str
    type: str
    help: str
    struct: str
    default: Any = None
    default_help: str | None = None
    range: tuple[float, ...] = ()
    choices: tuple[Any, ...] = ()
    enum: Enum | None = None
    unit: str = ""
    since: str = ""
    only: tuple[str, ...] = FACES
    step: str = ""
    flag: str = ""
    cli_help: str = ""
    cpp_help: str = ""
    python_help: str = ""
    field: str = ""
    cpp: str = ""
    python: str = ""
    python_scale: int = 1
    python_first: bool = False
    needed: bool = False
    or_none: bool = False
    resumes: bool = True
    for_artifacts: bool = False

    @property
    def bounds(self) -> tuple[Any, ...]:
        """The range; a share has one by its type."""
        return self.range or ((0, 1) if self.type == "share" else ())

    @property
    def member(self) -> str:
        return self.field or self.name

    @property
    def cpp_member(self) -> str:
        return self.cpp or self.name

    @property
    def keyword(self) -> str:
        return self.python or self.name

    @property
    def flag_name(self) -> str:
        return self.flag or "--" + self.name.replace("_", "-")

    @property
    def is_bool_enum(self) -> bool:
        """Whether the two values of the enum are false and true, which is what programs give."""
        return self.enum is not None and self.enum.type == "bool"

    @property
    def shown_default(self) -> str:
        """The default for people; empty if the help says it."""
        if self.default_help is not None:
            return self.default_help
        is_shown = self.default is not None and self.type in (*NUMBERS, "seconds", "channels")
        return str(self.default) if is_shown else ""


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    struct: str
    python_help: str
    tail: str
    python_first: str = ""
    python_result: str = "Self"


@dataclasses.dataclass(frozen=True)
class Table:
    options: tuple[Option, ...]
    enums: dict[str, Enum]
    steps: tuple[Step, ...]

    @property
    def structs(self) -> list[str]:
        """The internal structs, in their order."""
        return list(dict.fromkeys(option.struct for option in self.options))

    def of_struct(self, struct: str) -> list[Option]:
        return [option for option in self.options if option.struct == struct and option.type != "arrays"]

    def of_step(self, step: Step, face: str) -> list[Option]:
        """The options that a face of the step offers, in the table's order."""
        return [option for option in self.options if option.step == step.name and face in option.only]


def _option(name: str, row: dict[str, Any], section: str, raw: dict[str, Any], enums: dict[str, Enum]) -> Option:
    where = f"{section}.{name}"
    known = {field.name for field in dataclasses.fields(Option)} - {"section", "name"}
    for key in row:
        if key not in known:
            raise TableError(f"{where}: there is no key \"{key}\"")
    for key in ("type", "help"):
        if not row.get(key):
            raise TableError(f"{where}: has no {key}")
    if row["type"] not in TYPES:
        raise TableError(f"{where}: type: there is no type \"{row['type']}\"; there are {', '.join(TYPES)}")
    if "enum" in row and row["enum"] not in enums:
        raise TableError(f"{where}: enum: there is no \"{row['enum']}\"")
    step, everywhere = SECTIONS[section]
    full = {"since": raw["since"], "struct": raw["structs"][section], "step": step, "only": everywhere, **row}
    if "only" in row:
        full["only"] = row["only"].split()
    if row["type"] == "choice" and not ("enum" in row or "choices" in row):
        raise TableError(f"{where}: a choice needs enum or choices")
    if unknown := set(full["only"]) - set(FACES):
        raise TableError(f"{where}: only: there is no {', '.join(sorted(unknown))}; there are {', '.join(FACES)}")
    full["enum"] = enums.get(row.get("enum", ""))
    if full["enum"] and row.get("default") not in [value.name for value in full["enum"].values]:
        raise TableError(f"{where}: default: is none of the enum's values")
    for key in ("range", "choices", "only"):
        full[key] = tuple(full.get(key, ()))
    return Option(name=name, section=section, **full)


def _check(options: list[Option]) -> None:
    """No struct and no face has two options of one name."""
    seen: set[tuple[str, ...]] = set()
    for option in options:
        names = [("struct", option.struct, option.member)] if option.type != "arrays" else []
        if "cpp" in option.only:
            names.append(("cpp", option.step, option.cpp_member))
        if "python" in option.only:
            names.append(("python", option.step, option.keyword))
        for name in names:
            if name in seen:
                raise TableError(f"{option.section}.{option.name}: there is another {name[2]} in {name[1]}")
            seen.add(name)


def read_table(path: pathlib.Path) -> Table:
    with open(path, "rb") as file:
        raw = tomllib.load(file)
    enums = {}
    for name, enum in raw["enums"].items():
        values = tuple(Value(value["name"], value["is"], value.get("public", ""), value.get("help", ""))
                       for value in enum["values"])
        enums[name] = Enum(**{**enum, "values": values})
    options = [_option(name, row, section, raw, enums)
               for section in raw["structs"] for name, row in raw.get(section, {}).items()]
    _check(options)
    return Table(tuple(options), enums, tuple(Step(name, **step) for name, step in raw["steps"].items()))
