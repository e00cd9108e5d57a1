"""docs/options.md: all options, in a table for each section."""
import textwrap

from generator.table import Option, Table

HEAD = """# Options

Every option of compiling, tuning and quantizing, and every setting of jobs of these kinds. The page is made of
`src/options/options.toml` by `python3 src/options/generate.py --update-docs`; [the decision](decisions/options.md) says why.
A cell says what the command line, a job's settings, C and C++ (`attune/compiler.h`, `attune/compiler.hpp`) and Python call it;
"–" means that it is not offered there.
"""
SECTIONS = {
    "compile": ("Compiling", "`attune compile` and the commands that compile a model, `Network::optimize()`, "
                "`Network::compile()`; settings are those of tuning jobs."),
    "tune": ("Tuning", "`attune tune`, `Network::tune()`, and jobs of the kind tuning."),
    "quantize": ("Quantizing", "`attune quantize`, `Network::quantize()`, and jobs of the kind quantization; \"v\" is a "
                 "key of one of their variants."),
    "picture": ("Pictures", "Commands that take `--input` or `--data`, `Network::picture()`, and jobs of the kinds "
                "tuning, whose artifact carries them, and quantization. [The guide](guides/pictures.md) has recipes."),
    "tuning_job": ("Settings of a tuning job besides", ""),
    "quantization_job": ("Settings of a quantization job besides", ""),
}
NONE = "–"


def code(text: str) -> str:
    return f"`{text}`"


def value(option: Option) -> str:
    """The default, and the range."""
    shown = option.shown_default
    if option.needed:
        shown = "needed"
    elif option.type == "bool":
        shown = "true" if option.default else "false"
    elif option.type == "choice" and option.default:
        shown = code(option.default)
    text = shown or "none"
    if len(option.range) == 2:
        text += f"; {option.range[0]} to {option.range[1]}" + (f" {option.unit}" if option.unit else "")
    return text


def meaning(option: Option) -> str:
    since = "" if option.since == "0.1" else f" (since {option.since})"
    return option.help.replace("|", "\\|") + since


def names(option: Option) -> list[str]:
    setting = code(option.name) if "job" in option.only else code(option.name) + " v" if "variant" in option.only else NONE
    return [code(option.flag_name) if "cli" in option.only else NONE, setting,
            code(option.cpp_member) if "cpp" in option.only else NONE,
            code(option.keyword) if "python" in option.only else NONE]


def options_page(table: Table) -> str:
    lines = [HEAD]
    for section, (title, text) in SECTIONS.items():
        options = [option for option in table.options if option.section == section]
        is_job = section.endswith("_job")
        lines += [f"## {title}", ""] + (textwrap.wrap(text, 125) + [""] if text else [])
        head = ["setting"] if is_job else ["flag", "setting", "C, C++", "Python"]
        lines += ["| " + " | ".join([*head, "default", "meaning"]) + " |", "|---" * (len(head) + 2) + "|"]
        for option in options:
            cells = [code(option.name)] if is_job else names(option)
            lines.append("| " + " | ".join([*cells, value(option), meaning(option)]) + " |")
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"
