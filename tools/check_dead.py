#!/usr/bin/env python3
"""Finds functions of src/ that no program keeps.

    tools/check_dead.py [BUILD]

BUILD is a build folder with all programs, by default build/release. The programs are linked with --gc-sections: a function
that none of them has is called by nothing, by tests alone, or only in files that are compiled with its own, where its
calls were inlined. The script passes over a function that one of these names elsewhere.
Prints each of the others, and whether tests name it, and exits with 1 if there is one.

The script does not see functions in headers, constructors, destructors and operators, nor files for tests, which have test
in their name or folder."""
import functools
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# The Python module calls the public interface alone, all of which libattune.so keeps.
PROGRAMS = ("bin/attune", "bin/attune-server", "lib/attune/attune-worker", "lib/libattune.so", "lib/libattune_runtime.so")

MOCKS = "benchmarks/mock_agents.cc and tests have devices that do not measure"
PRINTED = "what is printed can be read: tests check both directions"
PRIMITIVE = "one of the primitives of schedules, which strategies choose from"
PROCESSES = "tests look at processes and end them"
MODELLED = "tests compile for more processors than they run on"

# Functions that no program keeps, and why they stay.
EXCEPTIONS = {
    "AllOps": "tests go through the table of operators",
    "AllSearchStrategies": "tests go through them, and hold the table of options to them",
    "BatchQueue::AwaitCancellation": MOCKS,
    "BatchQueue::Close": MOCKS,
    "BatchQueue::is_closed": MOCKS,
    "c_api::Report": "a function of its header calls it, and is inlined",
    "MockDeviceHost::Start": MOCKS,
    "Network::Verify": "tests verify without choosing a device",
    "ParseLoopNest": PRINTED,
    "ParseTrace": PRINTED,
    "RunnerProcesses::Pids": PROCESSES,
    "Schedule::Bind": PRIMITIVE,
    "Schedule::CacheRead": PRIMITIVE,
    "ScheduleGroup": "benchmarks/group_bench.cc and tests schedule one group",
    "SetLogSink": "tests read the log",
    "SetSyncWatch": "tests see which files are synced",
    "WithModelledProducts": MODELLED,
    "WithModelledTiles": MODELLED,
    "WorkerPool::Pids": PROCESSES,
    "ZooRows": "tests compare each network with its row",
}


@functools.cache
def read(source):
    return (ROOT / source).read_text()


class Function:
    def __init__(self, sources, demangled):
        self.sources, self.demangled = sources, demangled
        name = re.sub(r"\[abi:\w+\]", "", demangled)
        name = name.split("(")[0]
        while (bare := re.sub(r"<[^<>]*>", "", name)) != name:
            name = bare
        # Without what it returns, which templates have.
        self.path = name.split()[-1].removeprefix("attune::") if name else ""
        self.name = self.path.split("::")[-1]

    def source(self):
        """The first of the sources that names it: the one that defines it, but for calls in those before."""
        return next((source for source in self.sources if re.search(rf"\b{re.escape(self.name)}\b", read(source))),
                    self.sources[0])

    def is_called_beside(self):
        """Whether one of the sources names it other than where it is defined."""
        return any(calls_it(read(source), self.name) for source in self.sources)

    def is_special(self):
        """Whether calls do not name it: constructors, destructors and operators."""
        return self.name.startswith(("~", "operator")) or self.path.split("::")[-2:-1] == [self.name]


def symbols(files, nm):
    """(file, letter of its kind, demangled name) of all symbols that are defined in the files."""
    lines = subprocess.run([nm, "-A", "-C", "--defined-only", *files], capture_output=True, text=True, check=True).stdout
    for line in lines.splitlines():
        if match := re.match(r"(.*?): ?[0-9a-f]+ (\w) (.+)", line):
            yield match.groups()


def sources(build):
    """{object: its sources} of the code of src/. Several sources may be compiled as one, which includes them."""
    found = {}
    for file in sorted((build / "src").rglob("CMakeFiles/attune_*.dir/**/*.o")):
        folder, name = re.fullmatch(r"(.*)/CMakeFiles/[^/]+\.dir/(.*)\.o", str(file.relative_to(build))).groups()
        names = [pathlib.Path(folder) / name]
        if name.startswith("Unity/"):
            included = re.findall(r'^#include "(.+)"$', file.with_suffix("").read_text(), re.MULTILINE)
            names = [pathlib.Path(path).relative_to(ROOT) for path in included if path.startswith(f"{ROOT}/src/")]
        found[str(file)] = [source for source in names if source.suffix == ".cc" and (ROOT / source).is_file()
                            and not any("test" in part for part in source.parts)]
    return {file: names for file, names in found.items() if names}


def calls_it(text, name):
    """Whether the source names a function other than where it defines it: there, a line begins in the first column, and its
    first parenthesis follows the name."""
    for line in re.sub(r"//.*", "", text).splitlines():
        uses = len(re.findall(rf"\b{re.escape(name)}\b", line))
        defines = not line[:1].isspace() and re.match(rf"[^(]*\b{re.escape(name)}\(", line) is not None
        if uses > defines:
            return True
    return False


def unkept(build):
    """The functions of src/ that no program has."""
    cache = (build / "CMakeCache.txt").read_text() if (build / "CMakeCache.txt").is_file() else ""
    nm = (re.findall(r"^CMAKE_NM:\w+=(.+)$", cache, re.MULTILINE) or ["nm"])[0]
    programs = [build / name for name in PROGRAMS]
    if missing := [str(program) for program in programs if not program.is_file()]:
        sys.exit(f"check_dead.py: build these first: {', '.join(missing)}")
    # By their demangled names: a constructor has several symbols.
    commands = build / "compile_commands.json"
    if commands.is_file() and any("-ffunction-sections" not in entry["command"] for entry in json.loads(commands.read_text())):
        sys.exit(f"check_dead.py: {build} was not built with -ffunction-sections")
    kept = {name for _, _, name in symbols(programs, nm)}
    objects = sources(build)
    for file, kind, name in symbols(objects, nm):
        function = Function(objects[file], name)
        if kind == "T" and name not in kept and not function.is_special():
            yield function


def main(arguments):
    build = pathlib.Path(arguments[0]).resolve() if arguments else ROOT / "build/release"
    functions = list(unkept(build))
    tests = {file.relative_to(ROOT): file.read_text() for folder in ("src", "tests", "benchmarks")
             for file in sorted((ROOT / folder).rglob("*")) if file.suffix in (".cc", ".h")
             and (folder != "src" or any("test" in part for part in file.relative_to(ROOT).parts))}
    found = []
    for function in functions:
        if function.path in EXCEPTIONS or function.is_called_beside():
            continue
        users = [str(file) for file, text in tests.items() if re.search(rf"\b{re.escape(function.name)}\b", text)]
        found.append(f"{function.source()}: no program calls {function.demangled}; "
                     f"{'tests name it: ' + ', '.join(users[:3]) if users else 'nothing else does'}")
    paths = {function.path for function in functions}
    found += [f"tools/check_dead.py: {name} is no exception: it is gone, or a program calls it"
              for name in EXCEPTIONS if name not in paths]
    print("\n".join(sorted(found)) if found else f"programs call all functions but {len(EXCEPTIONS)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
