#!/usr/bin/env python3
"""Runs clang-tidy on the sources of src/, but for those that it has found clean before.

    tools/lint/tidy.py BUILD

BUILD is a build folder with compile_commands.json and the generated sources. BUILD/tidy keeps a file for each source
that was clean, named by a digest of all that clang-tidy sees: the preprocessed source, the suppressions in its files,
the checks and the program's version. So after a change of one header or one comment, few sources or none take their ten
seconds. Findings of clang-tidy are printed, and the exit code is 1 if there are any."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDY = "clang-tidy-19"


def sources(build):
    """(path, command) of each source of src/, those that are no tests first."""
    entries = json.loads((build / "compile_commands.json").read_text())
    commands = {pathlib.Path(entry["file"]): entry for entry in entries}
    chosen = [path for path in commands if path.suffix == ".cc" and path.is_relative_to(ROOT / "src")]
    return [(path, commands[path]) for path in sorted(chosen, key=lambda path: (path.stem.endswith("_test"), path))]


def configuration():
    """The checks and the version."""
    version = subprocess.run([TIDY, "--version"], capture_output=True, text=True, check=True).stdout
    return version + (ROOT / ".clang-tidy").read_text()


def preprocessed(entry):
    """Returns the compiler's view of a source: (the text; the files of src/ that it is from). None, and what is wrong,
    if it cannot be preprocessed."""
    arguments = shlex.split(entry["command"])
    output = arguments.index("-o")
    del arguments[output:output + 2]
    arguments = [argument for argument in arguments if argument != "-c"]
    run = subprocess.run([*arguments, "-E"], cwd=entry["directory"], capture_output=True, text=True)
    if run.returncode != 0:
        return None, run.stderr
    text, files = [], set()
    for line in run.stdout.splitlines():
        if line.startswith("# "):
            files.add(line.split('"')[1])
        elif line.strip():
            text.append(line)
    return "\n".join(text), sorted(file for file in files if pathlib.Path(file).is_relative_to(ROOT / "src"))


def suppressions(files):
    """The lines of these files that suppress findings, which are comments and thus no part of preprocessed text."""
    return [line for file in files for line in pathlib.Path(file).read_text().splitlines() if "NOLINT" in line]


def check(path, entry, build, settings):
    """Returns the findings of clang-tidy; empty if there are none."""
    source, files = preprocessed(entry)
    if source is None:
        return files
    key = hashlib.sha256("\0".join([settings, str(path), source, *suppressions(files)]).encode()).hexdigest()
    mark = build / "tidy" / key
    if mark.exists():
        return ""
    run = subprocess.run([TIDY, "-p", build, "--quiet", path], capture_output=True, text=True)
    if run.returncode == 0:
        mark.touch()
        return ""
    return run.stdout or run.stderr


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    (build / "tidy").mkdir(exist_ok=True)
    settings, found = configuration(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(check, path, entry, build, settings) for path, entry in sources(build)]
        for done in concurrent.futures.as_completed(jobs):
            if text := done.result():
                print(text, flush=True)
                found += 1
    print(f"clang-tidy: {len(jobs)} sources, {found} with findings")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
