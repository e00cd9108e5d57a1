"""The JSON schema of all settings of a kind of jobs."""
from typing import Any

from generator.table import Option, Table

# The sections whose options are settings of a job of the kind.
KINDS = {"tuning": ("tuning_job", "tune", "compile", "picture"), "quantization": ("quantization_job", "quantize", "picture")}
SIMPLE = {"bool": "boolean", "seconds": ["number", "string"], "share": ["number", "string"], "channels": ["number", "string"],
          "int": "integer", "int64": "integer", "uint64": "integer", "float": "number"}
# A body is bounded, too.
MOST_CHARACTERS, MOST_TEXTS = 1 << 20, 1 << 16
RANGES = {"seconds": (0, 1e7), "share": (0, 1), "channels": (-1e9, 1e9), "uint64": (0, (1 << 63) - 1)}


def value_schema(option: Option) -> dict[str, Any]:
    choices = [value.name for value in option.enum.values] if option.enum else list(option.choices)
    schema: dict[str, Any] = {"type": SIMPLE.get(option.type, "string")}
    if option.type == "texts":
        schema |= {"type": ["string", "array"], "items": {"type": "string", "maxLength": MOST_CHARACTERS},
                   "maxItems": MOST_TEXTS}
    if choices:
        schema["enum"] = [0, *choices] if option.type == "int" else choices
    schema |= dict(zip(("minimum", "maximum"), option.range if len(option.range) == 2 else RANGES.get(option.type, ())))
    if "string" in schema["type"] and not choices:
        schema["maxLength"] = MOST_CHARACTERS
    schema["description"] = option.help
    if option.default is not None:
        schema["default"] = option.default
    elif option.default_help:
        schema["description"] += f" (default: {option.default_help})"
    return schema


def object_schema(options: list[Option], more: dict[str, Any], needed: list[str]) -> dict[str, Any]:
    properties = more | {option.name: value_schema(option) for option in options}
    return {"type": "object", "properties": properties, "additionalProperties": False,
            "required": needed + [option.name for option in options if option.needed]}


def settings_schema(table: Table, kind: str) -> dict[str, Any]:
    def offered(face: str) -> list[Option]:
        return [option for section in KINDS[kind] for option in table.options
                if option.section == section and face in option.only]
    variants = object_schema(offered("variant"), {"name": {"type": "string", "maxLength": MOST_CHARACTERS}}, ["name"])
    more = {"variants": {"type": "array", "maxItems": MOST_TEXTS, "items": variants}} if kind == "quantization" else {}
    return object_schema(offered("job"), more, [])
