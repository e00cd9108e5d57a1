"""Tunes, quantizes and measures the networks of the demo."""
import shutil

import numpy

from common.engines import PEERS
from common.machine import processors
from common.program import Failed, attune_json
from common.stats import summary
from common.timing import Artifact, take_turns
from common.worker import PeerProcess
from demo import pictures
from demo.networks import CLASSIFIER

PEER = "onnxruntime"
THREADS = (1, 2)


def thread_counts():
    """The numbers of threads that this machine has processors for."""
    return [threads for threads in THREADS if threads <= processors()]


def tune(network, records, seconds, *flags):
    """Tunes a network for one thread. Returns what attune tune says of it. Raises Failed."""
    return attune_json("tune", network.model, *network.shape_flags, "--threads", 1, "--time", f"{seconds}s",
                       "--records", records, *flags)


def quantize(model, folder, count):
    """Quantizes the classifier to a file by `count` samples, which the folder gets. Returns what attune quantize says of it.
    Raises Failed."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for number, sample in enumerate(pictures.samples(count)):
        numpy.save(folder / f"{number}.npy", sample)
    return attune_json("quantize", CLASSIFIER.model, *CLASSIFIER.shape_flags, "--data", folder, "-o", model)


def measure(network, artifacts, given, threads, rounds, seconds):
    """Measures {version: artifact} and PEER, interleaved, on the input file `given`. Returns the median latency in ms of each.
    Raises Failed."""
    peer = PeerProcess(PEERS[PEER], network.model, [numpy.load(given)], threads, False, given.with_suffix(".log"))
    try:
        latencies, failures = take_turns(
            {PEER: peer, **{version: Artifact(path, threads, inputs=("--input", given)) for version, path in artifacts.items()}},
            rounds, seconds)
    finally:
        peer.close()
    if failures:
        raise Failed("; ".join(f"{name}: {reason}" for name, reason in failures.items()))
    return {name: summary(lists)["median_ms"] for name, lists in latencies.items()}
