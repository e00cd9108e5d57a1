#!/usr/bin/env python3
"""Checks which folder of src/ includes which: each may use only the folders below it.

Prints each violation as FILE:LINE and exits with 1 if there is one. Tests and their helpers, which are files with test
in their name or folder, may include anything.
"""
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src"

EARLY = ["base", "graph"]
FRONT = EARLY + ["sizes", "import", "reference", "opt"]
TUNER = ["tune/task", "tune/search", "tune/records", "tune/cost_model"]
BACK = ["target", "device", "tensor", "lower", "plan", "codegen", "artifact"]
# The folders by which a member of a fleet speaks with its server.
MEMBERS = ["fleet/identity", "fleet/wire"]
WORK = ["work/job", "work/sched", "work/store", "work/driver", "work/report"]
SERVICE = ["service/access", "service/state", "service/identity", "service/tenants", "service/uploads", "service/models",
           "service/records", "service/queue", "service/agreement", "service/page", "service/rest"]

# The folder, and what it may include apart from itself. docs/architecture.md explains the order.
MAY_INCLUDE = {
    "base": [],
    "base/sqlite": ["base"],
    "base/sql": ["base", "base/sqlite"],
    "graph": ["base"],
    "sizes": EARLY,
    "import": EARLY,
    "reference": EARLY,
    "opt": EARLY + ["reference"],
    "quant": EARLY + ["opt"],
    "io": EARLY,
    # The same schema serves reading and writing.
    "export": EARLY + ["import/onnx/onnx.pb.h"],
    "target": ["base"],
    "device": ["base", "target"],
    "tensor": ["base"],
    "lower": EARLY + ["sizes", "tensor", "target"],
    # Memory is planned with the alignment that the artifact file promises.
    "plan": EARLY + ["sizes", "tensor", "lower", "target", "artifact/artifact.h"],
    # The kernels that prepack weights run on the machine that compiles.
    "codegen": ["base", "tensor", "target", "device"],
    "artifact": ["base"],
    # The reader with everything that it needs, which is all except the writer's files; and headers without
    # dependencies.
    "runtime": ["artifact/artifact.h", "artifact/expand.h", "artifact/reader.h",
                "artifact/signature.h", "base/printable.h", "base/processors.h",
                "artifact/open_program.h", "artifact/size_code.h", "artifact/validate_open.h", "base/checked.h",
                "base/joined.h",
                "target/features.h", "device/host_features.h"],
    "compile": FRONT + BACK,
    # Kernels are measured with the threads that they are deployed on, networks with the whole runtime.
    "measure": ["base", "device", "runtime/device.h", "attune/attune.h", "artifact/artifact.h"],
    # The types of some options. settings.h is made when the build is configured.
    "options": ["base", "measure/outcome.h", "quant/ranges.h"],
    "http": ["base"],
    "http/client": ["base", "http/server_event.h"],
    "work/job": ["base"],
    "work/sched": ["base", "work/job"],
    "work/store": ["base", "base/sqlite", "base/sql", "work/job", "work/sched"],
    "work/admission": ["base"],
    # The processors of a machine, and the leases of them.
    "work/driver": ["base", "device", "work/job", "work/sched", "work/store", "work/admission"],
    "work/file": ["base", "work/job", "work/sched"],
    "work/report": ["base", "work/job", "work/store"],
    "work/simulation": ["base", "work/job", "work/sched", "work/store", "work/report"],
    "fleet/identity": ["base"],
    "fleet/leases": ["base"],
    "fleet/blobs": ["base", "base/sqlite", "base/sql", "measure"],
    "fleet/wire": ["base", "device", "measure", "fleet/identity", "fleet/leases", "fleet/blobs"],
    "fleet/store": ["base", "base/sqlite", "base/sql", "device", "fleet/identity", "fleet/leases"],
    "fleet/admission": ["base"] + MEMBERS + ["fleet/leases", "fleet/store"],
    "fleet/serving": ["base", "base/sql", "fleet/blobs", "fleet/store", "fleet/admission"] + MEMBERS,
    "fleet/client": ["base", "device", "measure", "fleet/blobs"] + MEMBERS,
    "fleet/host": ["base", "device", "measure"],
    "fleet/calibration": ["base", "device"],
    "fleet/agent": ["base", "device", "measure", "fleet/leases", "fleet/blobs", "fleet/client", "fleet/host"] + MEMBERS,
    "fleet/slurm": ["base", "base/sqlite", "fleet/client"],
    "fleet/server": ["base", "base/sqlite", "base/sql", "http", "device", "measure", "fleet/leases", "fleet/blobs", "fleet/store",
                     "fleet/admission", "fleet/serving", "fleet/calibration"] + MEMBERS,
    "tune/task": EARLY + ["reference", "tensor", "target", "lower", "plan", "compile", "measure"],
    "tune/search": ["base", "tune/task"],
    "tune/records": ["base", "base/sqlite", "lower", "plan", "measure", "tune/task"],
    "tune/cost_model": ["base", "tensor", "target", "tune/task", "tune/records"],
    "tune/job": ["base", "target", "device", "lower", "plan", "compile", "measure", "options"] + TUNER,
    "api": FRONT + BACK + ["runtime", "compile", "measure", "options", "tune/job", "quant", "export", "io", "zoo"] + TUNER,
    # The one place where work and compiler meet.
    "kinds": ["base", "device", "measure", "options", "quant", "api", "tune/job", "work/driver", "work/job"] + TUNER,
    # The zoo writes the format that the importer reads: the same schema serves both.
    "zoo": EARLY + ["import/onnx/onnx.pb.h"],
    # OpenID Connect as clients and servers speak it.
    "http/oidc": ["base", "http/client"],
    "service/access": ["base", "http"],
    "service/wire": ["base", "device", "fleet/blobs", "fleet/wire/rpc_status.h", "work/job", "work/driver", "work/report"],
    "service/state": ["base", "base/sqlite", "base/sql", "service/access"],
    "service/audit": ["base", "service/access", "service/state"],
    "service/identity": ["base", "base/sql", "http", "http/client", "http/oidc", "service/access", "service/state", "service/audit"],
    "service/tenants": ["base", "http", "service/access", "service/state"],
    "service/uploads": ["base", "fleet/blobs", "service/access", "service/state"],
    "service/models": ["base", "base/sql", "graph", "import", "lower", "target", "device", "api", "tune/job", "tune/task", "fleet/blobs",
                       "service/wire"],
    "service/records": ["base", "base/sql", "target", "device", "tune/cost_model", "tune/records", "tune/task", "fleet/blobs",
                        "fleet/serving", "work/store"],
    "service/queue": ["base", "base/sql", "device", "measure", "artifact/reader.h", "artifact/signer.h", "tune/records", "fleet/leases",
                      "fleet/blobs", "fleet/store", "fleet/admission", "fleet/serving", "kinds", "service/wire", "service/records"] + MEMBERS + WORK,
    "service/agreement": ["base", "base/sql", "compile/compile.h", "device", "target", "tune/job", "fleet/serving", "kinds",
                          "service/wire", "service/models", "service/queue"] + WORK,
    "service/client": ["base", "http/server_event.h", "http/client", "kinds", "work/job", "service/wire"],
    "service/runner": ["base", "base/sqlite", "device", "measure", "fleet/blobs", "fleet/client", "work/job", "work/driver", "service/wire",
                       "service/client"] + MEMBERS,
    "service/page": ["base", "http"],
    "service/rest": ["base", "http", "device", "artifact/signer.h", "tune/records", "tune/task", "fleet/leases", "fleet/blobs",
                     "fleet/store", "fleet/serving", "options", "kinds", "service/access", "service/wire", "service/state",
                     "service/audit", "service/identity", "service/tenants", "service/uploads", "service/models", "service/records", "service/queue",
                     "service/agreement"] + WORK,
    # The C interface of the compiler, over which that of C++ is inline.
    "library": ["base", "measure/service.h", "options", "api", "fleet/client"],
    "sweep": ["base", "base/sqlite", "device", "measure", "tune/job", "work/file", "work/job"],
    # Shared by the commands of both programs.
    "cli/common": ["base", "work/sched"],
    "cli": ["base", "base/sql", "options", "api", "import/operators.h", "codegen/llvm_version.h", "io", "zoo", "device", "measure", "artifact/signer.h",
            "sweep", "http/oidc", "kinds",
            "fleet/identity", "fleet/leases", "fleet/wire", "fleet/client", "fleet/host", "fleet/calibration", "fleet/agent", "fleet/slurm",
            "service/wire", "service/client", "service/runner", "work/file", "work/simulation", "cli/common"] + WORK,
    # The programs whose code libattune.so has.
    "programs": ["base", "api", "cli", "library", "attune/attune.h"],
    "process/server": ["base", "base/sqlite", "base/sql", "http", "http/oidc", "work/store", "fleet/blobs", "fleet/store", "fleet/serving",
                       "fleet/server"] + SERVICE,
    "process/backup": ["base", "base/sqlite", "base/sql", "fleet/blobs", "fleet/store", "fleet/admission", "process/server"],
    "process/setup": ["base", "base/sqlite", "base/sql", "device", "http", "fleet/identity", "fleet/client", "service/access",
                      "service/identity", "service/client"],
    "process/commands": ["base", "base/sql", "cli/common", "fleet/identity", "fleet/server", "service/client", "process/server",
                         "process/backup", "process/setup"] + SERVICE,
    "process": ["base", "cli/common", "process/commands", "service/models"],
}

# The files of artifact/ that only write, and so may have dependencies.
WRITER = ("compress", "signer", "writer")

# Headers that depend only on the standard library.
STANDALONE = ("base/checked.h", "base/joined.h", "base/memory_plan.h", "base/printable.h", "base/processors.h")

INCLUDE = re.compile(r'\s*#\s*include\s+[<"]([^>"]+)[>"]')


def row_of(path):
    """The folder of the table that contains a file, or None."""
    parts = path.split("/")
    folders = ("/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1))
    return next((folder for folder in folders if folder in MAY_INCLUDE), None)


def violations(path):
    relative = path.relative_to(SOURCE)
    folder = row_of(str(relative))
    if folder is None:
        yield f"src/{relative}:1: src/{relative.parent}/ has no row in tools/check_includes.py"
        return
    allowed = MAY_INCLUDE[folder]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        included = match[1]
        other = row_of(included) or included.split("/")[0]
        if other in ("llvm", "llvm-c", "lld") and folder != "codegen":
            yield f"src/{relative}:{number}: only codegen/ includes LLVM, not {included}"
        if other in MAY_INCLUDE and other != folder and not {other, included} & set(allowed):
            yield f"src/{relative}:{number}: {folder}/ may not include {included}"
        foreign = other in ("absl", "base") and included not in STANDALONE
        if folder in ("runtime", "artifact") and foreign and relative.stem not in WRITER:
            yield f"src/{relative}:{number}: the runtime stands on this file and has no dependencies, not {included}"


def is_test(path):
    return any("test" in part for part in path.relative_to(SOURCE).parts)


def circles():
    """The rows that include themselves through others."""
    folders = {row: {row_of(f"{other}/x") or row_of(other) for other in allowed} - {row, None}
               for row, allowed in MAY_INCLUDE.items()}
    left = dict(folders)
    while ready := [row for row, others in left.items() if not others & left.keys()]:
        for row in ready:
            del left[row]
    return left


def main():
    files = [p for p in sorted(SOURCE.rglob("*")) if p.suffix in (".h", ".cc", ".inc") and not is_test(p)]
    found = [line for path in files for line in violations(path)]
    found += [f"tools/check_includes.py: the row of {row}/ is part of a circle" for row in circles()]
    print("\n".join(found) if found else f"includes of {len(files)} files follow the table")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
