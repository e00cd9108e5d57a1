"""The Python that is made of the table: the steps of networks, with their signatures and docstrings."""
import textwrap

from generator.table import TYPES, Option, Step, Table

HEAD = '''"""The steps of networks with their options. Made of src/options/options.toml by src/options/generate.py."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy

from . import _core
from ._values import channels, flag, integer, number, path, text, texts
from .errors import InvalidError

Arrays = Mapping[str, Any]  # by the names of inputs: what NumPy or DLPack takes for an array


def _one_of(name: str, value: str) -> int:
    if value not in _CHOICES[name]:
        raise InvalidError(f"{name}: \\"{value}\\" is none of {', '.join(_CHOICES[name])}")
    return _CHOICES[name].index(value)


'''
COLUMNS = 120
# The functions of attune._values that convert what a caller gives.
CONVERSIONS = {"bool": "flag", "int": "integer", "int64": "integer", "uint64": "integer", "float": "number",
               "seconds": "number", "share": "number", "text": "text", "choice": "text", "plan": "text", "path": "path", "output": "path",
               "texts": "texts", "channels": "channels"}


def is_choice(option: Option) -> bool:
    return option.enum is not None and not option.is_bool_enum


def type_of(option: Option) -> str:
    return "bool" if option.is_bool_enum else TYPES[option.type][2]


def default_of(option: Option) -> str:
    if option.type == "arrays":
        return "None"
    if option.type in ("texts", "channels"):
        return "()"
    if option.is_bool_enum:
        return str(option.default != option.enum.values[0].name)
    value = TYPES[option.type][1] if option.default is None else option.default
    return f'"{value}"' if isinstance(value, str) else repr(value)


def in_order(table: Table, step: Step) -> list[Option]:
    options = table.of_step(step, "python")
    return sorted(options, key=lambda option: not option.python_first)


def parameters(table: Table, step: Step) -> list[str]:
    first = [step.python_first] if step.python_first else []
    return first + [f"{option.keyword}: {type_of(option)} = {default_of(option)}" for option in in_order(table, step)]


def call(opening: str, arguments: list[str], closing: str, indent: str) -> list[str]:
    """A call or a signature, whose arguments continue below one another."""
    text = ", ".join(argument.replace(" ", "\0") for argument in arguments)
    lines = textwrap.wrap(text, COLUMNS - len(indent) - len(opening) - len(closing), break_long_words=False,
                          break_on_hyphens=False)
    lines = [line.replace("\0", " ") for line in lines] or [""]
    lines[0] = opening + lines[0]
    lines[1:] = [" " * len(opening) + line for line in lines[1:]]
    lines[-1] += closing
    return [indent + line for line in lines]


def to_core(option: Option) -> str:
    value = option.keyword
    if is_choice(option):
        return f'_one_of("{value}", {value})'
    kind = "bool" if option.is_bool_enum else option.type
    converted = f'{CONVERSIONS[kind]}("{value}", {value}' + (f', "{kind}")' if kind in ("int64", "uint64") else ")")
    return f"{option.python_scale}.0 * {converted}" if option.python_scale != 1 else converted


def conversion(table: Table, step: Step) -> list[str]:
    """The function that makes the core's options of Python's."""
    options = [option for option in in_order(table, step) if option.type != "arrays"]
    given = [f"{option.keyword}: {type_of(option)} = {default_of(option)}" for option in options]
    result = [option for option in table.of_step(step, "cpp") if "python" in option.only]
    return [*call(f"def {step.name}_options(", given, f") -> _core.{step.struct}:", ""),
            *call(f"return _core.{step.name}_options(", [to_core(option) for option in result], ")", "    "), "", ""]


def docstring(table: Table, step: Step) -> list[str]:
    sentences = []
    for option in in_order(table, step):
        text = option.python_help or option.cpp_help or option.help
        shown = option.shown_default
        if shown and not option.default and not (option.python_help or option.cpp_help) and ": " not in text:
            text += f"; by default {shown}"
        sentences.append(f"{option.keyword}: {text}.")
    wrapped = [textwrap.wrap(text, COLUMNS - 8, break_long_words=False, break_on_hyphens=False)
               for text in (step.python_help, " ".join(sentences))]
    return ['        """' + wrapped[0][0], *("        " + line for line in wrapped[0][1:]), "",
            *("        " + line for line in wrapped[1]), '        """']


def method(table: Table, step: Step) -> list[str]:
    first = [parameter.split(":")[0] for parameter in step.python_first.split(", ")] if step.python_first else []
    taken = first + [option.keyword for option in in_order(table, step)]
    return [*call(f"def {step.name}(", ["self", *parameters(table, step)], f") -> {step.python_result}:", "    "), *docstring(table, step),
            *call(f"return self._{step.name}({{", [f'"{name}": {name}' for name in taken], "})", "        "), "",
            f"    def _{step.name}(self, options: dict[str, Any]) -> {step.python_result}:", "        raise NotImplementedError", ""]


def python_module(table: Table) -> str:
    choices = {option.keyword: tuple(value.name for value in option.enum.public_values)
               for option in table.options if "python" in option.only and is_choice(option)}
    compiling = ", ".join(f'"{option.keyword}": {default_of(option)}' for option in table.options
                          if option.step == "compile" and "python" in option.only)
    lines = [HEAD.rstrip("\n"), "", "", f"_CHOICES = {choices}".replace("'", '"'),
             f"COMPILE_DEFAULTS: dict[str, Any] = {{{compiling}}}"]
    torch = [option for option in table.options if "torch" in option.only]
    for step in ("optimize", "compile"):
        types = ", ".join(f'"{option.keyword}": {type_of(option).split(" ")[0]}' for option in torch if option.step == step)
        lines.append(f"TORCH_{step.upper()} = {{{types}}}  # options of torch.compile() for this step, and their types")
    lines += ["", ""]
    for step in table.steps:
        lines += conversion(table, step)
    names = ", ".join(f'"{step.name}": {step.name}_options' for step in table.steps)
    lines += ["def check_options(step: str, options: Mapping[str, Any]) -> None:",
              '    """Raises what the step would raise for an option of a wrong type or out of its range."""',
              f"    check: Any = {{{names}}}[step]",
              '    check(**{name: value for name, value in options.items() if name not in ("data", "examples")})', "", ""]
    lines += ["class Steps:", '    """The steps of a network that take options. Each returns another network, unless it says otherwise."""', ""]
    for step in table.steps:
        lines += method(table, step)
    return "\n".join(lines).rstrip("\n") + "\n"
