#!/usr/bin/env python3
"""Tests of what tools/study does again when it continues, and of the consequences of failures. Nothing is measured."""
import pathlib
import tempfile
import unittest
from unittest import mock

from common.program import Failed
from sample import sample
from study import agreement, lab, making, networks, samples, streams

RESNET, _, DETECTOR = networks.NETWORKS


class Turn(unittest.TestCase):
    """A lab that notes its steps instead of doing them. `broken`: versions that cannot be made, with the reason."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.artifact = pathlib.Path(folder.name) / "artifact"
        self.artifact.write_bytes(b"12")
        self.broken, self.crashing, self.steps, self.saved = {}, set(), [], 0
        fakes = ((making, "make", self.make), (making, "artifact", self.path), (making, "is_there", lambda *_: True),
                 (agreement, "outputs_of", self.outputs), (agreement, "compare", lambda *_: {"status": "ran"}),
                 (samples, "example", lambda *_: "sample.npy"), (lab.timing, "take_turns", self.take_turns),
                 (streams, "Compiled", lambda *arguments: arguments))
        for target, name, value in fakes:
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.results = {**sample(), "networks": {}}
        self.lab = lab.Lab(self.results, None, self.save, lambda line: None)

    def save(self):
        self.saved += 1

    def path(self, network, version, batch):
        return self.artifact

    def make(self, network, version, batch):
        self.steps.append(f"make {version.name}-b{batch}")
        if network.is_zoo and batch > 1:
            raise Failed("not supported: one picture at a time")
        if version.name in self.broken:
            raise Failed(self.broken[version.name])
        return {"status": "made", "bytes": 2}

    def outputs(self, network, path):
        self.steps.append("outputs")
        return []

    def take_turns(self, contestants, rounds, seconds):
        self.steps.append("turns of " + " ".join(contestants))
        good = {name: [streams.Turn([1.0], 1000.0, None)] for name in contestants if name not in self.crashing}
        return good, {name: "it ended" for name in contestants if name in self.crashing}

    def complete(self, network=RESNET):
        """Completes the network and returns the steps taken."""
        self.steps.clear()
        self.lab.complete(network)
        return list(self.steps)

    @property
    def own(self):
        return self.results["networks"][RESNET.name]


class Complete(Turn):
    def test_everything_is_done_once(self):
        steps = self.complete()
        self.assertEqual(len([step for step in steps if step.startswith("make")]), 12)
        self.assertEqual(steps.count("outputs"), 6)  # those of the float version are kept
        self.assertEqual(steps[-4:], ["turns of fp32 fp16 bf16 int8 mixed clustered"] * 4)
        self.assertEqual(self.saved, 12 + 5 + 4)
        self.assertEqual(self.own["runs"]["b8-s1-t2"]["setup"], {"batch": 8, "streams": 1, "threads": 2})
        self.assertEqual(self.own["runs"]["b1-s1-t1"]["contestants"]["int8"]["per_second"], 1000)
        self.assertEqual(self.complete(), [])

    def test_what_was_interrupted_goes_on(self):
        self.complete()
        del self.own["artifacts"]["mixed-b8"], self.own["agreement"]["int8"], self.own["runs"]["b1-s2-t1"]
        self.assertEqual(self.complete(), ["make mixed-b8", "outputs", "outputs",
                                           "turns of fp32 fp16 bf16 int8 mixed clustered"])

    def test_artifacts_that_are_gone_are_made_again(self):
        self.complete()
        with mock.patch.object(making, "is_there", lambda network, version, batch: version.name != "fp16"):
            self.assertEqual(self.complete(), ["make fp16-b1", "make fp16-b8"])


class Failing(Turn):
    def test_what_is_not_supported_is_final(self):
        self.broken = {"bf16": "attune compile: exit code 1\nnot supported: precision bf16: no"}
        steps = self.complete()
        self.assertEqual(steps[-1], "turns of fp32 fp16 int8 mixed clustered")
        self.assertEqual(self.own["artifacts"]["bf16-b1"], {"status": "NS", "reason": "precision bf16: no"})
        self.assertEqual(self.own["agreement"]["bf16"]["status"], "NS")
        self.assertTrue(self.own["runs"]["b1-s1-t1"]["contestants"]["bf16"]["follows"])
        self.assertEqual(self.complete(), [])

    def test_what_fails_is_tried_again(self):
        self.broken = {"int8": "no memory"}
        self.complete()
        self.assertEqual(self.own["artifacts"]["int8-b1"]["status"], "missing")
        self.broken = {}
        steps = self.complete()
        self.assertEqual(steps[:2], ["make int8-b1", "make int8-b8"])
        self.assertEqual(self.own["agreement"]["int8"]["status"], "ran")
        # All take turns again, since a single latency has nothing to be compared with.
        self.assertEqual(steps[-1], "turns of fp32 fp16 bf16 int8 mixed clustered")

    def test_who_fails_in_its_turn_is_missing(self):
        self.crashing = {"mixed"}
        self.complete()
        found = self.own["runs"]["b1-s1-t1"]["contestants"]
        self.assertEqual(found["mixed"], {"status": "missing", "reason": "it ended"})
        self.assertEqual(found["int8"]["status"], "ran")

    def test_without_the_float_version_there_is_no_agreement(self):
        self.broken = {"fp32": "no memory"}
        self.complete()
        self.assertEqual(self.own["agreement"]["int8"], {"status": "missing", "reason": "no memory", "follows": True})


class Peers(Turn):
    def opened(self, network, setup, peers):
        """The contestants' entries if peers open the files that they are given."""
        self.results["settings"]["peers"] = peers
        self.files = []

        def open_peer(engine, path, *_):
            self.files.append((engine, pathlib.Path(path).name))
            return engine
        with mock.patch.object(lab, "open_peer", open_peer), \
                mock.patch.object(lab.numpy, "load", lambda path: None), \
                mock.patch.object(lab.files, "ensure", self.model), \
                mock.patch.object(making, "quantized_model", self.path), \
                mock.patch.object(making.zoo, "zoo_model", lambda name: self.artifact):
            self.complete(network)
        return self.results["networks"][network.name]["runs"][setup.name]["contestants"]

    def model(self, case, form):
        path = self.artifact.with_name(f"{case.name}.{form}")
        path.write_bytes(b"123")
        return path

    def test_each_reads_its_format(self):
        found = self.opened(RESNET, networks.Setup(1, 2, 1), ["onnxruntime", "litert"])
        self.assertEqual({found[key]["status"] for key in found}, {"ran"})
        self.assertEqual(set(self.files), {
            ("onnxruntime", "resnet50v2.onnx"), ("onnxruntime", "resnet50v2-b8.onnx"), ("onnxruntime", "artifact"),
            ("litert", "resnet50v2.tflite"), ("litert", "resnet50v2-b8.tflite"), ("litert", "resnet50v2-int8.tflite"),
            ("litert", "resnet50v2-b8-int8.tflite")})

    def test_what_they_do_not_read_is_not_supported(self):
        found = self.opened(DETECTOR, networks.Setup(8, 1, 2), ["onnxruntime", "litert"])
        self.assertEqual({found[key]["status"] for key in found if " " in key}, {"NS"})
        found = self.opened(DETECTOR, networks.Setup(1, 1, 2), ["onnxruntime", "litert"])
        self.assertEqual(found["onnxruntime int8"]["status"], "ran")
        self.assertIn("ONNX alone", found["litert fp32"]["reason"])


if __name__ == "__main__":
    unittest.main()
