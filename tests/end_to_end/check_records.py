#!/usr/bin/env python3
"""Records are imported, exported and merged as the guide says, also if the program is killed."""
import json
import pathlib
import random
import signal
import subprocess
import tempfile
import time

from checks import end_to_end
from common.program import PROGRAM, Failed, attune, attune_json

DEVICE = "some-processor/znver4/l1-32k"
TASK = ("graph @conv(%x: f32[1,64,56,56], %w: f32[64,64,3,3]) {\n  %0 = conv(%x, %w) : f32[1,64,56,56]\n"
        "  %1 = relu(%0) : f32[1,64,56,56]\n  return \"\": %1\n}\n")


def record(run, trial, seconds=None, task=TASK):
    """A measurement; without `seconds`, a failed one."""
    outcome = {"outcome": "crashed", "reason": "signal 11"} if seconds is None else {
        "outcome": "ok", "seconds": seconds, "low": seconds, "high": seconds, "repetitions": 10}
    return {"schema": 1, "kind": "record", "task": task, "flops": 2e8, "device": DEVICE, "threads": 2,
            "strategy": "conv_direct", "strategy_version": 1000, "config": {"tile_c": trial}, **outcome, "run": run,
            "trial": trial, "search": "random", "compiler": "0.1.0", "code_digest": "ab", "cache": "warm",
            "time_ms": 1_700_000_000_000 + trial, "build_seconds": 0.03, "measure_seconds": 0.1}


def write(path, records):
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path


def failure(*arguments):
    try:
        attune(*arguments)
    except Failed as error:
        return str(error)
    raise AssertionError(f"attune {' '.join(map(str, arguments))} did not fail")


def check_commands(folder):
    database = folder / "sub/records.db"
    some = write(folder / "some.jsonl", [record("a", 1, 3e-3), record("a", 2, 1e-3), record("a", 3)])
    more = write(folder / "more.jsonl", [record("b", 4, 2e-3, "gemm"), record("a", 1, 3e-3)])
    assert attune_json("records", "import", some, "--records", database)["added"] == 3
    assert attune_json("records", "import", more, "--records", database)["added"] == 1
    assert attune_json("records", "import", some, "--records", database)["added"] == 0

    tasks = attune_json("records", "list", "--records", database)["tasks"]
    assert [(t["records"], t["failed"], t["best_seconds"]) for t in tasks] == [(3, 1, 1e-3), (1, 0, 2e-3)], tasks
    table = attune("records", "list", "--records", database)
    assert "conv+relu f32[1,64,56,56] f32[64,64,3,3] -> f32[1,64,56,56]" in table and "200.0" in table, table
    best = attune_json("records", "best", "--records", database, "--task", tasks[0]["task_digest"][:12])["best"]
    assert [(b["trial"], b["prior"]) for b in best] == [(2, True)], best
    assert "conv_direct (version 1000)" in attune("records", "best", "--records", database)
    last = attune_json("records", "list", "--measurements", "--limit", 1, "--records", database)["measurements"]
    assert [m["trial"] for m in last] == [4], last

    out = folder / "out.jsonl"
    attune("records", "export", out, "--records", database)
    assert out.read_text() == attune("records", "export", "-", "--records", database)
    copy = folder / "copy.db"
    assert attune_json("records", "merge", database, "--records", copy)["added"] == 4
    assert attune("records", "export", "-", "--records", copy) == out.read_text()
    assert attune_json("records", "import", out, "--records", database)["added"] == 0

    prune = ("records", "prune", "--older-than", "1d", "--keep-best", 1, "--keep-failed", "--records", database)
    assert attune_json(*prune, "--dry-run")["records"] == 1
    assert attune_json(*prune)["records"] == 1
    assert attune_json(*prune)["records"] == 0


def check_messages(folder):
    database = folder / "records.db"
    damaged = folder / "damaged.jsonl"
    damaged.write_text(json.dumps(record("a", 1, 1e-3)) + "\n{\"schema\":1\n")
    assert f"{damaged}:2: the line is not JSON" in failure("records", "import", damaged, "--records", database)
    assert attune_json("records", "import", damaged, "--skip-damaged", "--records", database)["skipped"] == 1
    wrong = record("a", 1, 1e-3)
    del wrong["threads"]
    assert ":1: field \"threads\" is missing" in failure(
        "records", "import", write(folder / "wrong.jsonl", [wrong]), "--records", database)
    (folder / "text.db").write_text("no database" * 100)
    assert "text.db: is damaged or no database" in failure("records", "list", "--records", folder / "text.db")
    assert "there is no such database" in failure("records", "list", "--records", folder / "missing.db")
    for usage in (("records",), ("records", "prune"), ("records", "export"), ("records", "list", "--task", "xyz"),
                  ("records", "export", "-", "--json", "-"), ("records", "prune", "--older-than", "soon")):
        assert "exit code 2" in failure(*usage)


def check_kill(folder):
    """Imports that are killed at any moment, beside one that is not, either add a batch whole or not at all."""
    database, numbers = folder / "records.db", random.Random(0)
    killed = write(folder / "killed.jsonl", [record("killed", i, 1e-3 + i * 1e-6) for i in range(5000)])
    beside = write(folder / "beside.jsonl", [record("beside", i, 1e-3 + i * 1e-6) for i in range(2000)])

    def start(file):
        return subprocess.Popen([PROGRAM, "records", "import", file, "--records", database], stdout=subprocess.DEVNULL)

    attune("records", "import", write(folder / "none.jsonl", []), "--records", database)
    other = start(beside)
    known = 0
    for _ in range(20):
        process = start(killed)
        time.sleep(numbers.uniform(0, 0.2))
        process.send_signal(signal.SIGKILL)
        process.wait()
        count = len(attune("records", "export", "-", "--run", "killed", "--records", database).splitlines())
        assert count >= known, f"{known} records became {count}"
        known = count
    assert other.wait() == 0
    attune("records", "import", killed, "--records", database)
    lines = [json.loads(line) for line in attune("records", "export", "-", "--records", database).splitlines()]
    keys = sorted((line["run"], line["trial"]) for line in lines)
    assert keys == [("beside", i) for i in range(2000)] + [("killed", i) for i in range(5000)]


def check():
    for part in (check_commands, check_messages, check_kill):
        with tempfile.TemporaryDirectory() as scratch:
            part(pathlib.Path(scratch))


end_to_end(check)
