"""The C++ that is made of the table: the internal structs with their rows, the public structs, and what joins them."""
import json
import textwrap

from generator.schema import KINDS, settings_schema
from generator.table import NUMBERS, TYPES, Enum, Option, Step, Table

NOTE = "// Made of src/options/options.toml by src/options/generate.py."
COLUMNS = 110


def comment(text: str, indent: str = "") -> list[str]:
    lines = textwrap.wrap(text, COLUMNS - len(indent) - 3, break_long_words=False, break_on_hyphens=False)
    return [f"{indent}// {line}" for line in lines]


def literal(option: Option, face: str = "") -> str:
    """The initial value of a member."""
    if option.enum is not None:
        value, = (value for value in option.enum.values if value.name == option.default)
        if option.is_bool_enum or face != "cpp":
            return option.enum.internal(value)
        return f"{option.enum.public}::{value.public}"
    if option.type in ("texts", "plan"):
        return "{}"
    value = TYPES[option.type][1] if option.default is None else option.default
    return json.dumps(value) if value != "" else "{}"


def sentence(option: Option, face: str = "") -> str:
    """The comment of a member."""
    text = face == "cpp" and option.cpp_help or option.help
    shown = option.shown_default
    unset = "0" if option.type in (*NUMBERS, "seconds") else "empty"
    if shown and not option.default and text != option.cpp_help and f"{unset}: " not in text.lower():
        text = f"{text}. {unset.capitalize()}: {shown}"
    return text[0].upper() + text[1:] + "."


def member_type(option: Option, face: str = "") -> str:
    if option.enum is not None:
        return option.enum.public if face == "cpp" and not option.is_bool_enum else option.enum.type
    if option.type == "plan" and face == "cpp":
        return "std::string"
    if option.type == "channels" and face == "cpp":
        return "std::vector<double>"
    return TYPES[option.type][0]


def header(about: str, guard: str, standard: list[str], own: list[str], namespace: str, body: list[str], needs: str = "") -> str:
    """A header. An include in `own` that begins with < comes before those of the standard library; `needs` comes first."""
    foreign = [f"#include {name}" for name in own if name.startswith("<")]
    ours = [f'#include "{name}"' for name in own if not name.startswith("<")]
    includes = [group for group in (foreign, [f"#include <{name}>" for name in standard], ours) if group]
    lines = [f"// {about}", NOTE, f"#ifndef {guard}", f"#define {guard}", "", *filter(None, [needs])]
    for group in includes:
        lines += [*group, ""]
    return "\n".join([*lines, f"namespace {namespace} {{", "", *body, f"}}  // namespace {namespace}", "", f"#endif  // {guard}", ""])


# settings.h and settings.cc


def internal_struct(table: Table, struct: str) -> list[str]:
    lines = [f"struct {struct} {{"]
    for option in table.of_struct(struct):
        lines += comment(sentence(option), "  ")
        lines.append(f"  {member_type(option)} {option.member} = {literal(option)};")
    return [*lines, "};", f"BoundOptions OptionsOf({struct}& settings);", ""]


def enum_lines(enum: Enum) -> list[str]:
    lines = []
    if enum.own:
        names = ", ".join(value.is_ for value in enum.values)
        lines += [*comment(enum.help), f"enum class {enum.type} : uint8_t {{ {names} }};"]
    if enum.has_names:
        lines += [f"std::string_view Name({enum.type} value);  // as people write it", ""]
    return lines


def settings_header(table: Table) -> str:
    lines = []
    for enum in table.enums.values():
        lines += enum_lines(enum)
    for struct in table.structs:
        lines += internal_struct(table, struct)
    lines += ["// The JSON schemas of the settings of jobs of these kinds."]
    lines += [*(f"std::string_view {kind.title()}Schema();" for kind in KINDS), ""]
    return header("The settings of compiling, tuning and quantizing, and of jobs.", "ATTUNE_OPTIONS_SETTINGS_H_",
                  ["cstdint", "optional", "string", "string_view", "vector"],
                  ["base/dtype.h", "measure/outcome.h", "options/option.h", "quant/ranges.h"], "attune", lines)


def choices_name(table: Table, option: Option) -> str:
    if option.enum is None:
        return f"kOf{option.struct}{option.member.title().replace('_', '')}"
    name, = (name for name, enum in table.enums.items() if enum is option.enum)
    return f"k{name.title()}"


def choice_arrays(table: Table) -> list[str]:
    lines = []
    for name, enum in table.enums.items():
        rows = ", ".join(f'{{"{value.name}", static_cast<int>({enum.internal(value)}), {json.dumps(bool(value.public))}}}'
                         for value in enum.values)
        lines.append(f"constexpr OptionChoice k{name.title()}[] = {{{rows}}};")
    for option in table.options:
        if option.choices:
            rows = ", ".join(f'{{"{choice}", {choice if option.type == "int" else 0}}}' for choice in option.choices)
            lines.append(f"constexpr OptionChoice {choices_name(table, option)}[] = {{{rows}}};")
    return lines


def row(table: Table, option: Option) -> list[str]:
    """An OptionRow, member by member; those that have their initial values are left out."""
    kinds = {"seconds": "kSeconds", "share": "kShare", "channels": "kChannels", "path": "kPath", "output": "kOutput"}
    members = {"name": json.dumps(option.name), "field": json.dumps(option.member)}
    if "cli" in option.only:
        members["flag"] = json.dumps(option.flag_name)
    if "cpp" in option.only:
        members |= {"step": json.dumps(option.step), "cpp_name": json.dumps(option.cpp_member)}
    if "python" in option.only:
        members["python_name"] = json.dumps(option.keyword)
    if option.python_scale != 1:
        members["python_scale"] = str(option.python_scale)
    members["help"] = json.dumps(option.help, ensure_ascii=False)
    if option.cli_help:
        members["flag_help"] = json.dumps(option.cli_help, ensure_ascii=False)
    if option.shown_default:
        members["default_help"] = json.dumps(option.shown_default, ensure_ascii=False)
    if option.type in kinds:
        members["form"] = f"OptionForm::{kinds[option.type]}"
    members |= {name: str(end) for name, end in zip(("least", "most"), option.bounds)}
    if option.choices or option.enum is not None:
        members["choices"] = choices_name(table, option)
    flags = {"is_setting": "job" in option.only, "is_of_variant": "variant" in option.only, "is_needed": option.needed,
             "may_be_none": option.or_none, "is_for_artifacts": option.for_artifacts}
    members |= {name: "true" for name, is_set in flags.items() if is_set}
    if not option.resumes:
        members["resumes"] = "false"
    return ["    {" + ", ".join(f".{name} = {value}" for name, value in members.items()) + "},"]


def settings_source(table: Table) -> str:
    lines = [NOTE, '#include "options/settings.h"', "", "namespace attune {", "namespace {", "", *choice_arrays(table), ""]
    for struct in table.structs:
        lines += [f"constexpr OptionRow k{struct}[] = {{"]
        for option in table.of_struct(struct):
            lines += row(table, option)
        lines += ["};", ""]
    lines += ["}  // namespace", ""]
    for name, enum in table.enums.items():
        if enum.has_names:
            lines += [f"std::string_view Name({enum.type} value) {{",
                      f"  return NameOfChoice(k{name.title()}, static_cast<int>(value));", "}", ""]
    for struct in table.structs:
        lines += [f"BoundOptions OptionsOf({struct}& settings) {{", "  return {"]
        for number, option in enumerate(table.of_struct(struct)):
            member = f"settings.{option.member}"
            bound = f"ChoiceField({member})" if option.enum is not None else f"&{member}"
            lines.append(f"      {{&k{struct}[{number}], {bound}}},")
        lines += ["  };", "}", ""]
    for kind in KINDS:
        text = json.dumps(settings_schema(table, kind), ensure_ascii=False)
        lines += [f"std::string_view {kind.title()}Schema() {{", f'  return R"json({text})json";', "}", ""]
    return "\n".join([*lines, "}  // namespace attune", ""])


# The public header


def public_enums(table: Table) -> list[str]:
    lines = []
    for enum in table.enums.values():
        if not enum.public:
            continue
        helps = any(value.help for value in enum.public_values)
        if not enum.own:
            lines += comment(enum.help)
        if helps:
            lines.append(f"enum class {enum.public} {{")
            lines += [f"  {value.public}," + (f"  // {value.help}" if value.help else "") for value in enum.public_values]
            lines += ["};", ""]
        else:
            lines += [f"enum class {enum.public} {{ " + ", ".join(value.public for value in enum.public_values) + " };", ""]
    return lines


def public_struct(table: Table, step: Step) -> list[str]:
    lines = [f"struct {step.struct} {{"]
    for option in table.of_step(step, "cpp"):
        lines += comment(sentence(option, "cpp"), "  ")
        lines.append(f"  {member_type(option, 'cpp')} {option.cpp_member} = {literal(option, 'cpp')};")
    return [*lines, *step.tail.strip("\n").split("\n"), "};", ""]


def public_header(table: Table) -> str:
    lines = ["struct TuningProgress;", "", *public_enums(table)]
    for step in table.steps:
        lines += public_struct(table, step)
    return header("The options of the steps of attune/compiler.hpp.", "ATTUNE_OPTIONS_HPP_",
                  ["cstdint", "functional", "stop_token", "string", "string_view", "vector"], ["attune/tensor.hpp"], "attune::compiler", lines,
                  '#if __cplusplus < 202002L\n#error "Attune is used from C++20 or newer (-std=c++20), or from C by attune/compiler.h."\n#endif\n')


# From public options to those of the C interface, and back


def names_of_enum(enum: Enum) -> list[str]:
    rows = [f'    case {enum.public}::{value.public}: return "{value.name}";' for value in enum.public_values]
    return [f"inline std::string name_of({enum.public} value) {{", "  switch (value) {", *rows, "  }",
            "  return std::to_string(static_cast<int>(value));", "}", ""]


def to_c(table: Table, step: Step) -> list[str]:
    lines = [f"inline Owned<attune_options_free> to_c(const {step.struct}& from) {{", f"  const {step.struct} defaults;",
             f"  auto to = get<attune_options_free>(attune_options_create, ATTUNE_STEP_{step.name.upper()});"]
    for option in table.of_step(step, "cpp"):
        values = [f"{struct}.{option.cpp_member}" for struct in ("from", "defaults")]
        if option.enum is not None and not option.is_bool_enum:
            values = [f"name_of({value})" for value in values]
        lines.append(f'  set_changed(to.get(), "{option.cpp_member}", {", ".join(values)});')
    return [*lines, "  return to;", "}", ""]


def from_c(table: Table, step: Step) -> list[str]:
    lines = [f"inline {step.struct} {step.name}_from_c(const attune_options& from) {{", f"  {step.struct} to;"]
    lines += [f'  read(from, "{option.cpp_member}", to.{option.cpp_member});' for option in table.of_step(step, "cpp")]
    return [*lines, "  return to;", "}", ""]


def public_to_c(table: Table) -> str:
    lines = []
    for enum in table.enums.values():
        if enum.public:
            lines += names_of_enum(enum)
    for step in table.steps:
        lines += to_c(table, step)
    # The options of the other steps are not asked for.
    lines += from_c(table, next(step for step in table.steps if step.name == "compile"))
    return header("Options of C++ as those of the C interface. For the headers of this folder alone.", "ATTUNE_DETAIL_OPTIONS_HPP_",
                  ["string"], ["attune/detail/call.hpp", "attune/detail/set_options.hpp", "attune/options.h", "attune/options.hpp"],
                  "attune::compiler::detail", lines)


# For nanobind


def bound_parameter(option: Option) -> tuple[str, str]:
    """The type that Python gives, and what is made of it."""
    kind = member_type(option, "cpp")
    if option.enum is not None and not option.is_bool_enum:
        return "int", f"static_cast<compiler::{kind}>({option.cpp_member})"
    return (f"const {kind}&" if kind.startswith("std::") else kind), option.cpp_member


def python_bindings(table: Table) -> str:
    lines = ["inline void BindOptions(nanobind::module_& m) {", "  namespace nb = nanobind;"]
    for step in table.steps:
        options = [option for option in table.of_step(step, "cpp") if "python" in option.only]
        parameters = ", ".join(f"{bound_parameter(option)[0]} {option.cpp_member}" for option in options)
        names = ", ".join(f'nb::arg("{option.keyword}")' for option in options)
        lines += [f'  nb::class_<compiler::{step.struct}>(m, "{step.struct}");', f'  m.def("{step.name}_options",',
                  f"        []({parameters}) {{", f"          compiler::{step.struct} options;"]
        lines += [f"          options.{option.cpp_member} = {bound_parameter(option)[1]};" for option in options]
        lines += ["          compiler::check(options);", "          return options;", "        },", f"        {names});"]
    foreign = ["<nanobind/nanobind.h>", "<nanobind/stl/string.h>", "<nanobind/stl/vector.h>"]
    return header("Makes the options of Python's calls; it checks their types and ranges.", "ATTUNE_OPTIONS_PYTHON_OPTIONS_H_",
                  ["cstdint", "string", "vector"], [*foreign, "attune/compiler.hpp"], "attune::python", [*lines, "}", ""])
