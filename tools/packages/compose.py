"""Reads the part of a compose file that ours uses: services with images, commands, volumes, conditions and health."""
import dataclasses
import pathlib
import re
from collections.abc import Mapping
from typing import Any

import yaml  # type: ignore[import-untyped]

from packages.release import Failed

UNITS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
KNOWN = {"image", "entrypoint", "command", "environment", "volumes", "depends_on", "healthcheck", "network_mode",
         "profiles", "restart"}
# Beside extensions (x-…). docker-compose 1 refuses any other, such as a project's name.
KNOWN_SECTIONS = {"services", "volumes"}


@dataclasses.dataclass(frozen=True)
class Health:
    """A command whose exit status says whether a service is well; times in seconds."""
    command: list[str]
    interval: float
    timeout: float
    retries: int


@dataclasses.dataclass(frozen=True)
class Mount:
    """A named volume, or a folder beside the file, at a path in the container."""
    source: str
    target: str
    is_read_only: bool


@dataclasses.dataclass(frozen=True)
class Service:
    """A service; `entrypoint` is None where the image's own counts."""
    name: str
    image: str
    entrypoint: list[str] | None
    command: list[str]
    environment: dict[str, str]
    mounts: list[Mount]
    after: dict[str, str]  # a condition for each service that comes first
    health: Health | None
    is_on_demand: bool
    is_restarted: bool  # if it fails


def seconds(text: str) -> float:
    """The seconds of a duration such as 1m30s."""
    return sum(float(number) * UNITS[unit] for number, unit in re.findall(r"([0-9.]+)(ms|s|m|h)", text))


def filled(value: Any, variables: Mapping[str, str]) -> Any:
    """A value of the file with ${NAME:-DEFAULT} replaced in all its texts, and $$ by $."""
    if isinstance(value, dict):
        return {key: filled(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, variables) for item in value]
    if not isinstance(value, str):
        return value
    return re.sub(r"\$(?:(\$)|\{(\w+)(?::-([^}]*))?\})",
                  lambda found: "$" if found[1] else variables.get(found[2]) or found[3] or "", value)


def mount(text: str) -> Mount:
    source, target, *options = text.split(":")
    return Mount(source, target, "ro" in options)


def service(name: str, fields: Mapping[str, Any]) -> Service:
    if unknown := set(fields) - KNOWN:
        raise Failed(f"service {name}: {', '.join(sorted(unknown))}: is not understood here")
    if fields.get("network_mode") != "host":
        raise Failed(f"service {name}: has a network of its own; network_mode: host is understood alone")
    if fields.get("restart", "no") not in ("no", "on-failure"):
        raise Failed(f"service {name}: restart: {fields['restart']} is not understood here; no and on-failure are")
    health = fields.get("healthcheck")
    return Service(name, fields["image"], fields.get("entrypoint"), fields.get("command", []),
                   fields.get("environment", {}), [mount(text) for text in fields.get("volumes", [])],
                   {first: how["condition"] for first, how in fields.get("depends_on", {}).items()},
                   Health(health["test"][1:], seconds(health["interval"]), seconds(health["timeout"]),
                          health["retries"]) if health else None, "profiles" in fields,
                   fields.get("restart") == "on-failure")


def read(path: pathlib.Path, variables: Mapping[str, str]) -> dict[str, Service]:
    """The services, each after those that it depends on."""
    sections = filled(yaml.safe_load(path.read_text()), variables)
    if unknown := {name for name in sections if not name.startswith("x-")} - KNOWN_SECTIONS:
        raise Failed(f"{path}: {', '.join(sorted(unknown))}: is not understood by all engines")
    waiting = {name: service(name, entry) for name, entry in sections["services"].items()}
    ordered: dict[str, Service] = {}
    while waiting:
        ready = [name for name, entry in waiting.items() if set(entry.after) <= set(ordered)]
        if not ready:
            raise Failed(f"{path}: these services wait for each other: {', '.join(waiting)}")
        ordered.update({name: waiting.pop(name) for name in ready})
    return ordered
