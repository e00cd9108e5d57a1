"""How far a version agrees with the float network: on the likeliest class, and on the scores of all classes.

Weights are random, so neither of the two is right about a picture. Whether they agree is defined nevertheless, and
agreement is harder than with trained weights: nothing has taught the network to separate classes by more than rounding
moves them. The score of a detector for a class is that of its best box; boxes are also compared themselves.
"""
import concurrent.futures
import multiprocessing

import numpy

from common import machine
from common.agreement import metrics
from common.agreement.boxes import Detections
from common.agreement.photos import JUDGING
from common.program import Failed
from common.runtime import Session
from study import samples

CLASSES = 91  # of a detector, including the background


def scores_of(network, outputs):
    """The scores [classes], from the outputs for one picture."""
    if not network.detects:
        return outputs[0].ravel()
    _, scores, classes = outputs
    best = numpy.zeros(CLASSES)
    numpy.maximum.at(best, classes, scores)
    return best


def detections(outputs):
    """The Detections in a detector's outputs, the best score first."""
    boxes, scores, classes = outputs
    order = numpy.argsort(-scores, kind="stable")
    return Detections(boxes.astype(numpy.float64), scores, classes).take(order)


def compare(network, expected, actual):
    """The entry for the results, from lists of outputs, one per picture."""
    found = {"top1": metrics.TopOne(), "cosine": metrics.Cosine()}
    boxes = metrics.SameBoxes(detections)
    count = 0
    for one, other in zip(expected, actual, strict=True):
        for metric in found.values():
            metric.add([scores_of(network, one)], [scores_of(network, other)])
        if network.detects:
            boxes.add(one, other)
        count += 1
    entry = {"status": "ran", "samples": count, **{name: metric.value() for name, metric in found.items()}}
    return {**entry, "boxes_f1": boxes.value(), "expected_boxes": boxes.facts()["boxes"]} if network.detects else entry


def outputs_of(network, artifact):
    """A list of outputs for each judging picture. Runs in a process of its own, so that a crash affects only this
    artifact. Raises Failed."""
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        try:
            return pool.submit(run_all, network, artifact).result()
        except concurrent.futures.BrokenExecutor:
            raise Failed(f"the process that ran {artifact.name} has ended") from None


def run_all(network, artifact):
    session = Session(artifact, machine.processors())
    return [session.run(picture) for picture in samples.pictures(network, JUDGING, samples.JUDGED)]
