"""The stages of the demo that come after the build, each with its table."""
import os
import re
import shutil
from dataclasses import dataclass

import numpy

from common.program import PROGRAM, ROOT, attune_json, print_table, run_tool
from common.report.charts import Bar, BarChart
from common.report.pages import write_text
from common.report.words import milliseconds, plural
from demo import pictures, reading, speed
from demo.networks import CLASSIFIER, NETWORKS, RECOGNIZER, Compiled, OnnxRuntime, compile_network

TOLERANCE = 1e-3  # of outputs, which are probabilities
BASELINE, TUNED, INT8 = "baseline", "tuned", "int8"  # versions of a network
COLOURS = {BASELINE: "#f2b38c", TUNED: "#d55e00", INT8: "#0072b2"}
VALUE = re.compile(r"^ +(\d+) +(\S+)$", re.MULTILINE)  # of an output, as run_model.c prints it


@dataclass(frozen=True)
class Budget:
    tuning_s: int = 60  # for each network
    tuning_flags: tuple[str, ...] = ()  # more of attune tune
    samples: int = 64  # to quantize by
    rounds: int = 5
    round_s: float = 0.3  # for each contestant


def megabytes(count):
    return f"{count / 1e6:.1f} MB"


def shown(path):
    """The path as it is said from the working folder."""
    return os.path.relpath(path)


class Show:
    """The stages, in the order of its methods, each of which may raise Failed. Files go to the folder. `wrong`: what does not
    agree."""

    def __init__(self, folder, budget):
        self._folder, self._budget = folder, budget
        self._records = folder / "records.db"
        self._peers = {}  # {network: OnnxRuntime}
        self._artifacts = {}  # {(network, version, threads): file}
        self.wrong = []

    def compile_and_read(self, stages):
        """Compiles the networks, and has both engines read a photo."""
        photo = pictures.page(pictures.LINES)
        photo.save(self._folder / "photo.png")
        self._peers = {network: OnnxRuntime(network) for network in NETWORKS}
        labels = self._peers[RECOGNIZER].labels, self._peers[CLASSIFIER].labels
        theirs = reading.find(self._peers, photo, *labels).by_place()
        rows, engines = [["network", "input", "model", "compiled", "in", "kernels", "largest difference"]], {}
        for number, network in enumerate(NETWORKS):
            stages.show(number, len(NETWORKS), network.name)
            said, engines[network], difference = self._compile_and_check(network, BASELINE)
            rows.append([network.name, "×".join(map(str, network.shape)), megabytes(network.model.stat().st_size),
                         megabytes(said["bytes"]["file"]), f"{said['seconds']['total']:.1f} s", str(said["kernels"]), difference])
        ours, right = reading.find(engines, photo, *labels).by_place(), reading.RIGHT.by_place()
        found = [["in the photo", "ONNX Runtime finds", "Attune finds", ""]]
        for place in {**right, **theirs, **ours}:
            everyone = [names.get(place, "nothing") for names in (right, theirs, ours)]
            agrees = self._check(len(set(everyone)) == 1, f"what is found in {place}")
            found.append([f"{place}: {everyone[0]}", *everyone[1:], "agrees" if agrees else "DIFFERS"])
        stages.clear()
        print(f"  the photo: {shown(self._folder / 'photo.png')}\n")
        print_table(found)
        print_table(rows)

    def tune(self, stages):
        """Tunes each network, and compiles it anew."""
        for path in self._folder.glob(f"{self._records.name}*"):  # of earlier demos: this one shows what its own tuning gains
            path.unlink()
        load = attune_json("doctor")["checks"]["load"]
        if not load["ok"]:
            print(f"  note: {load['text']}; {load['way_out']}\n")
        rows = [["network", "tuned for", "trials", "faster kernels", "largest difference"]]
        for network in NETWORKS:
            tuned = stages.wait(self._budget.tuning_s, network.name, speed.tune, network, self._records,
                                self._budget.tuning_s, *self._budget.tuning_flags)
            faster = sum(task["tuned_config"] != task["untuned_config"] for task in tuned["tasks"])
            _, _, difference = self._compile_and_check(network, TUNED, "--records", self._records)
            rows.append([network.name, f"{tuned['seconds']:.0f} s", str(tuned["trials"]), f"{faster} of {len(tuned['tasks'])}",
                         difference])
        stages.clear()
        print_table(rows)

    def quantize(self, stages):
        """Quantizes the classifier, and prints the verdict."""
        stages.show(0, 1, CLASSIFIER.name)
        model = self._folder / f"{CLASSIFIER.name}.int8.onnx"
        said = speed.quantize(model, self._folder / "samples", self._budget.samples)
        for threads in speed.thread_counts():
            self._compile(CLASSIFIER, INT8, threads, model=model)
        sizes = [["classifier", "model", "artifact"]]
        for version, file in ((BASELINE, CLASSIFIER.model), (INT8, model)):
            artifact = self._artifacts[CLASSIFIER, version, 1]
            sizes.append([version, megabytes(file.stat().st_size), megabytes(artifact.stat().st_size)])
        stages.clear()
        print_table(sizes)
        print(f"  verdict: {said['verdict']}, on {said['held_back_samples']} pictures\n")

    def measure(self, stages):
        """Measures all versions beside ONNX Runtime, and draws their gains."""
        rows = [["network", "threads", "ONNX Runtime", BASELINE, TUNED, INT8, "gain of tuning", "against ONNX Runtime"]]
        groups = []
        for threads in speed.thread_counts():
            for network in NETWORKS:
                stages.show(len(groups), len(NETWORKS) * len(speed.thread_counts()), network.name)
                times = self._measure(network, threads)
                peer = times.pop(speed.PEER)
                cells = [f"{milliseconds(times[version])} ms" if version in times else "–" for version in COLOURS]
                rows.append([network.name, str(threads), f"{milliseconds(peer)} ms", *cells,
                             f"{times[BASELINE] / times[TUNED]:.2f}×", f"{peer / times[TUNED]:.2f}×"])
                bars = [Bar(peer / value, f"{peer / value:.2f}×, {milliseconds(value)} ms", COLOURS[version])
                        for version, value in times.items()]
                groups.append((f"{network.name}, {plural(threads, 'thread')}", bars))
        stages.clear()
        print_table(rows)
        self._draw(groups)

    def run_from_c(self, stages):
        """Compiles docs/examples/run_model.c against the runtime, and has it run the tuned classifier."""
        stages.show(0, 1, CLASSIFIER.name)
        given, expected = self._peers[CLASSIFIER].calls[0]
        program, file, libraries = self._folder / "run_model", self._folder / "picture.raw", PROGRAM.parents[1] / "lib"
        run_tool(shutil.which("cc") or "clang-19", ROOT / "docs/examples/run_model.c", "-I", ROOT / "include", "-L", libraries,
                 "-lattune_runtime", f"-Wl,-rpath,{libraries}", "-o", program)
        file.write_bytes(given.tobytes())
        said = run_tool(program, self._artifacts[CLASSIFIER, TUNED, 1], 1, file)
        values = {int(index): float(value) for index, value in VALUE.findall(said)}
        difference = max(abs(values[index] - value) for index, value in enumerate(expected.ravel()))
        agrees = self._check(difference <= TOLERANCE, "the classifier run from C")
        stages.clear()
        print(f"{said.rstrip()}\n  from C, {'as' if agrees else 'NOT as'} in ONNX Runtime; largest difference {difference:.1e}\n")

    def _check(self, holds, what):
        if not holds:
            self.wrong.append(what)
        return holds

    def _compile(self, network, version, threads, *flags, model=None):
        artifact = self._artifacts[network, version, threads] = self._folder / f"{network.name}.{version}.{threads}.atn"
        return compile_network(network, artifact, threads, *flags, model=model)

    def _compile_and_check(self, network, version, *flags):
        """Returns what attune compile says, the compiled network, and how far its outputs are from ONNX Runtime's, as text."""
        said = self._compile(network, version, 1, *flags)
        engine = Compiled(self._artifacts[network, version, 1])
        difference = engine.difference(self._peers[network].calls)
        agrees = self._check(difference <= TOLERANCE, f"outputs of the {network.name}")
        return said, engine, f"{difference:.1e}{'' if agrees else ' TOO LARGE'}"

    def _measure(self, network, threads):
        """Returns the median latency in ms of each version, and of the peer."""
        for version, flags in ((BASELINE, ()), (TUNED, ("--records", self._records))):
            if (network, version, threads) not in self._artifacts:
                self._compile(network, version, threads, *flags)
        artifacts = {version: self._artifacts[network, version, threads] for version in COLOURS
                     if (network, version, threads) in self._artifacts}
        given = self._folder / f"{network.name}.npy"
        numpy.save(given, self._peers[network].calls[0][0])
        return speed.measure(network, artifacts, given, threads, self._budget.rounds, self._budget.round_s)

    def _draw(self, groups):
        picture = self._folder / "gains.svg"
        write_text(picture, BarChart(
            title="The demo's networks beside ONNX Runtime", subtitle="times as fast; longer is better",
            axis="latency of ONNX Runtime ÷ latency of Attune", legend=list(COLOURS.items()), groups=groups).draw())
        print(f"  as a picture: {shown(picture)}\n")
