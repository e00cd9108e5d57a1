"""Compares random graphs with onnxruntime: compare_onnxruntime.py --help.

graph_fuzz writes graphs, their results from the reference interpreter in float64 and exact integers, and how far
rounding alone may move these. Attune's compiled code has to be within these bounds. onnxruntime runs the same models
unoptimized and optimized. If it exceeds the bounds, the first node that exceeds them tells the class of the
disagreement. onnxruntime_classes.py explains the classes; a disagreement of no class is a failure.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

try:
    import onnxruntime
except ImportError:
    print("onnxruntime is missing; this check needs it (tools/setup.sh python installs it)")
    sys.exit(1 if os.environ.get("CI") else 77)  # which ctest counts as skipped

import onnxruntime_classes
import onnxruntime_worker

HERE = pathlib.Path(__file__).resolve().parent
SECONDS_EACH = 120


class Worker:
    """Runs onnxruntime_worker.py on folders, and again after each crash. A case that crashes runs again without one of
    onnxruntime's optimizers, if there is one without which it does not crash."""

    def __init__(self, folders):
        self.left = [str(folder) for folder in folders]
        self.results = {}

    def run(self):
        while self.left:
            begun = self._run_until_it_ends()
            if begun is None:
                break
        return self.results

    def _run_until_it_ends(self):
        """Returns the folder that it crashed on, if any."""
        process = subprocess.Popen([sys.executable, HERE / "onnxruntime_worker.py", *self.left],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        errors = []
        reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))
        reader.start()
        begun = None
        while True:
            watchdog = threading.Timer(SECONDS_EACH, process.kill)
            watchdog.start()
            line = process.stdout.readline()
            watchdog.cancel()
            if not line:
                break
            if line.startswith("{"):
                self.results[begun] = json.loads(line)
                self.left.remove(begun)
                begun = None
            else:
                begun = line.rstrip("\n")
        process.wait()
        reader.join()
        process.stdout.close()
        process.stderr.close()
        if process.returncode > 0:
            raise RuntimeError(f"{begun}: {errors[0]}")
        if begun is not None:
            self.left.remove(begun)
            self.results[begun] = {"crash": f"signal {-process.returncode}", **without_an_optimizer(begun)}
        return begun


def without_an_optimizer(folder):
    """The result of a case that otherwise crashes, with the disabled optimizer's name; empty if it always crashes."""
    if not (pathlib.Path(folder) / "model.onnx").exists():
        return {}
    for name in onnxruntime_worker.OPTIMIZERS:
        process = subprocess.run([sys.executable, HERE / "onnxruntime_worker.py", "--without", name, folder],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        if process.returncode == 0:
            return {**json.loads(process.stdout.splitlines()[-1]), "optimizer": name}
    return {}


def write(options, folder, seed, count, *more):
    """Runs graph_fuzz --write and returns its output."""
    command = [options.graph_fuzz, "--write", folder, "--seed", str(seed), "--graphs", str(count), "--jobs",
               str(options.jobs), *more]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout


def seeds_in(folder):
    return sorted((path.parent for path in folder.glob("*/case.json")), key=lambda path: int(path.name))


def run_batch(options, folder, first, count):
    """Results, one dictionary for each line of the state file."""
    printed = write(options, folder, first, count)
    skipped = {reason: int(n) for n, reason in re.findall(r"^skipped (\d+): (.*)$", printed, re.M)}
    faults = re.findall(r"^seed \d+: fault: .*$", printed, re.M)
    results = Worker(seeds_in(folder)).run()
    apart = {name: r for name, r in results.items()
             if r.get("differs") or r.get("attune") or "crash" in r and "optimizer" not in r}
    if apart:
        again = folder / "again"
        for name in apart:
            seed = pathlib.Path(name).name
            printed = write(options, again, seed, 1, "--thorough")
            if (again / seed / "case.json").exists():
                shutil.copytree(name, again / seed / "model")
            else:
                faults += re.findall(r"^seed \d+: fault: .*$", printed, re.M)
        for name, result in Worker(seeds_in(again)).run().items():
            before = results[str(folder / pathlib.Path(name).name)]
            if "crash" in result and "crash" not in before:
                before["crash"] = result["crash"]
            elif "crash" not in before:
                before.update(result)
    lines = [{"seed": int(pathlib.Path(name).name), **result} for name, result in results.items()]
    return [*lines, {"batch": first, "count": count, "skipped": skipped, "faults": faults}]


class State:
    """The comparisons so far; kept in a file, if one is given, so that a run can continue."""

    def __init__(self, path):
        self.path, self.lines = path, []
        if path and path.exists():
            self.lines = [json.loads(line) for line in path.read_text().splitlines()]
        batches = [line for line in self.lines if "batch" in line]
        self.next_seed = max((b["batch"] + b["count"] for b in batches), default=None)

    def add(self, lines):
        self.lines += lines
        if self.path:
            with open(self.path, "a") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)

    def graphs(self):
        return [line for line in self.lines if "seed" in line]

    def compared(self):
        return [g for g in self.graphs() if "crash" not in g and "plain" not in g["refused"]]


def report(state):
    """Prints the results. Returns whether nothing is wrong and every difference is explained."""
    compared, batches = state.compared(), [line for line in state.lines if "batch" in line]
    differing = [g for g in state.graphs() if g.get("differs") or "crash" in g]
    operators = collections.Counter(op for g in compared for op in g["operators"])
    pairs = {pair for g in compared for pair in g["pairs"]}
    print(f"{len(compared)} graphs compared with onnxruntime {onnxruntime.__version__}, {len(operators)} operators, "
          f"{len(pairs)} pairs of them")
    print("graphs with each operator:", " ".join(f"{op} {n}" for op, n in sorted(operators.items())))
    skipped = collections.Counter()
    for batch in batches:
        skipped.update(batch["skipped"])
    refused = collections.Counter(g["refused"]["plain"] for g in state.graphs() if "plain" in g.get("refused", {}))
    for what, reasons in (("no model", skipped), ("onnxruntime refuses", refused)):
        print(f"{what}: {reasons.total()} graphs")
        for reason, count in reasons.most_common():
            print(f"  {count}: {reason}")
    classes, unexplained = collections.Counter(), []
    for graph in differing:
        row = onnxruntime_classes.find(graph)
        if row is None:
            unexplained.append(graph)
        else:
            classes[row] += 1
    print(f"onnxruntime differs: {len(differing)} graphs")
    for row, count in classes.most_common():
        print(f"  {count}: {row.name}: {row.why}")
    print(f"unexplained: {len(unexplained)}")
    for graph in unexplained:
        print(f"seed {graph['seed']}: {onnxruntime_classes.describe(graph)}")
    wrong = [g for g in state.graphs() if g.get("attune")]
    for graph in wrong:
        for name, apart in graph["attune"].items():
            print(f"seed {graph['seed']}: Attune is wrong: {name}: {apart['what']}")
    faults = [fault for batch in batches for fault in batch["faults"]]
    for fault in faults:
        print(fault)
    print(f"Attune: {len(wrong)} wrong, {len(faults)} faults")
    return not (wrong or faults or unexplained)


def main():
    parser = argparse.ArgumentParser(description="Random graphs: Attune, the reference interpreter and onnxruntime")
    parser.add_argument("--graph-fuzz", default=HERE.parents[1] / "build/release/bin/graph_fuzz", type=pathlib.Path,
                        help="the program")
    parser.add_argument("--seed", type=int, default=1, help="the first graph's; each graph has the next one")
    parser.add_argument("--graphs", type=int, default=1000, help="how many to compare, besides those that cannot be")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that write at a time")
    parser.add_argument("--state", type=pathlib.Path, help="file of results; what it has is not done again")
    parser.add_argument("--batch", type=int, default=64, help="seeds at a time")
    parser.add_argument("--report", action="store_true", help="only print what the state has")
    options = parser.parse_args()
    state = State(options.state)
    seed = options.seed if state.next_seed is None else state.next_seed
    while not options.report and len(state.compared()) < options.graphs:
        count = min(options.batch, 2 * (options.graphs - len(state.compared())))
        with tempfile.TemporaryDirectory() as folder:
            state.add(run_batch(options, pathlib.Path(folder), seed, count))
        seed += count
    sys.exit(0 if report(state) else 1)


if __name__ == "__main__":
    main()
