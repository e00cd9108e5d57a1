#!/usr/bin/env python3
"""Checks which folder of src/ includes which: each may use what stands below it, and nothing else.

Prints each violation as FILE:LINE and exits with 1 if there is one. Tests and what serves
them alone, files with test in their name or folder, may include anything.
"""
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src"

EARLY = ["base", "graph"]
FRONT = EARLY + ["import", "reference", "opt"]
BACK = ["target", "device", "tensor", "lower", "plan", "codegen", "artifact"]

# The folder, and what it may include beside itself. docs/architecture.md explains the order.
MAY_INCLUDE = {
    "base": [],
    "graph": ["base"],
    "import": EARLY,
    "reference": EARLY,
    "opt": EARLY + ["reference"],
    "quant": EARLY + ["opt"],
    # One schema serves what is read and what is written.
    "export": EARLY + ["import/onnx/onnx.pb.h"],
    "target": ["base"],
    "device": ["base", "target"],
    "tensor": ["base"],
    "lower": EARLY + ["tensor", "target"],
    # Memory is planned with the alignment that the file promises.
    "plan": EARLY + ["tensor", "lower", "target", "artifact/artifact.h"],
    # The kernels that prepack weights run on the machine that compiles.
    "codegen": ["base", "tensor", "target", "device"],
    "artifact": ["base"],
    # The reader and what it stands on, which is all but the writer's files; and headers without dependencies.
    "runtime": ["artifact/artifact.h", "artifact/expand.h", "artifact/reader.h", "base/printable.h",
                "target/features.h", "device/host_features.h"],
    "compile": FRONT + BACK,
    "measure": BACK + ["base", "runtime", "tune"],
    # Kernels are measured with the threads that they are deployed on.
    "tune": FRONT + BACK + ["compile", "measure", "runtime/device.h"],
    "api": FRONT + BACK + ["runtime", "compile", "measure", "tune", "quant", "export"],
    "io": EARLY,
    # The zoo writes the format that the importer reads: one schema serves both.
    "zoo": EARLY + ["import/onnx/onnx.pb.h"],
    "cli": ["base", "api", "io", "zoo"],
}

# Those of artifact/ that only write, and so may have dependencies.
WRITER = ("compress", "writer")

# What itself stands on the standard library alone.
STANDALONE = ("base/printable.h",)

INCLUDE = re.compile(r'\s*#\s*include\s+[<"]([^>"]+)[>"]')


def violations(path):
    relative = path.relative_to(SOURCE)
    folder = relative.parts[0]
    allowed = MAY_INCLUDE.get(folder)
    if allowed is None:
        yield f"src/{relative}:1: src/{folder}/ has no row in tools/check_includes.py"
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        included = match[1]
        other = included.split("/")[0]
        if other in ("llvm", "llvm-c", "lld") and folder != "codegen":
            yield f"src/{relative}:{number}: only codegen/ includes LLVM, not {included}"
        if other in MAY_INCLUDE and other != folder and not {other, included} & set(allowed):
            yield f"src/{relative}:{number}: {folder}/ may not include {included}"
        foreign = other in ("absl", "base") and included not in STANDALONE
        if folder in ("runtime", "artifact") and foreign and relative.stem not in WRITER:
            yield f"src/{relative}:{number}: the runtime stands on this file and has no dependencies, not {included}"


def is_test(path):
    return any("test" in part for part in path.relative_to(SOURCE).parts)


def main():
    files = [p for p in sorted(SOURCE.rglob("*")) if p.suffix in (".h", ".cc", ".inc") and not is_test(p)]
    found = [line for path in files for line in violations(path)]
    print("\n".join(found) if found else f"includes of {len(files)} files follow the table")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
