#!/usr/bin/env python3
"""tflite_labels_test.py classify|detect|segment|pose    trained TensorFlow Lite networks see what is in the photos

The expected results come from LiteRT, but for segments and the pose they are what a person sees.
"""
import pathlib
import sys
import tempfile

import numpy

from checks import MODELS, end_to_end, need
from common.program import attune, attune_json

FLOAT_IMAGE = ("--preprocess", "tf")

PHOTOS = ("grace_hopper.bmp", "cat.bmp", "parrot.jpg", "sunflower.bmp", "hot_dog.jpg", "owl.jpg")
GROUSE = "ruffed grouse, partridge, Bonasa umbellus"
HOT_DOG = "hotdog, hot dog, red hot"
GOWN = "academic gown, academic robe, judge's robe"

# The network, its flags, and the label that it gives each of the photos.
CLASSIFIERS = {
    "mobilenet_v2_1.0_224_quant": ((), ("military uniform", "Egyptian cat", "macaw", "daisy", HOT_DOG, GROUSE)),
    "tf2_mobilenet_v2_1.0_224_ptq": ((), ("military uniform", "Egyptian cat", "macaw", "daisy", HOT_DOG, GROUSE)),
    "mobilenet_v1_0.25_128_quant": ((), (GOWN, "Egyptian cat", "macaw", "daisy", "banded gecko", "hare")),
    "mobilenet_v1_0.25_224_1_default_1": (
        FLOAT_IMAGE, ("suit, suit of clothes", "Egyptian cat", "macaw", "daisy", "pill bottle", GROUSE)),
}

# The detector's best detections with their scores; these have eight bits, and are printed with two digits.
DETECTOR = "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_no_metadata"
DETECTIONS = {
    "grace_hopper.bmp": (("person", 0.71), ("tie", 0.64), ("tie", 0.57)),
    "cat.bmp": (("cat", 0.72), ("chair", 0.36), ("couch", 0.30)),
    "dogs.jpg": (("dog", 0.76), ("dog", 0.75), ("dog", 0.46)),
    "cats_and_dogs.jpg": (("cat", 0.67), ("cat", 0.62), ("cat", 0.54)),
}
SCORE_TOLERANCE = 0.02

# The most frequent class in the photo apart from the background, and the least share of the photo that it covers.
SEGMENTERS = {"deeplabv3_mnv2_dm05_pascal_quant": (), "deeplabv3_257_mv_gpu": FLOAT_IMAGE}
SEGMENTS = {"grace_hopper.bmp": ("person", 0.3), "cat.bmp": ("cat", 0.15), "dogs.jpg": ("dog", 0.05)}

# The position of the face in the photo, from its left and from its top, in units of its size.
POSE = "movenet_single_pose_lightning_ptq"
KEYPOINTS = {"nose": (0.441, 0.240), "left eye": (0.480, 0.201), "right eye": (0.395, 0.196)}
KEYPOINT_TOLERANCE = 0.04
LEAST_KEYPOINT_SCORE = 0.3


class Network:
    """A network compiled in a folder, to be run on photos."""

    def __init__(self, name, folder, flags=()):
        self.artifact, self.folder, self.flags = folder / f"{name}.atn", folder, flags
        attune("compile", need(MODELS / "tflite" / f"{name}.tflite"), "-o", self.artifact)

    def run(self, photo, *flags):
        """The program's report about the outputs."""
        return attune_json("run", self.artifact, "--input", need(MODELS / "images" / photo), *self.flags,
                           *flags)["outputs"]

    def arrays(self, photo):
        """The output arrays."""
        return [numpy.load(output["file"]) for output in self.run(photo, "--output", self.folder / "outputs")]


def labels(name):
    return need(MODELS / "labels" / name)


def classify(folder):
    for name, (flags, classes) in CLASSIFIERS.items():
        network = Network(name, folder, flags)
        for photo, expected in zip(PHOTOS, classes):
            outputs = network.run(photo, "--labels", labels("imagenet_labels.txt"), "--top", 1)
            best = outputs[0]["top"][0]
            yield f"{name}, {photo}: {best['label']} ({best['value']:g})", best["label"] == expected


def detect(folder):
    names = labels("coco_labels.txt").read_text().splitlines()
    network = Network(DETECTOR, folder)
    for photo, expected in DETECTIONS.items():
        _, classes, scores, _ = (values.ravel() for values in network.arrays(photo))
        found = [(names[int(index)], score) for index, score in zip(classes, scores)][:len(expected)]
        right = all(label == wanted and abs(score - likely) <= SCORE_TOLERANCE
                    for (label, score), (wanted, likely) in zip(found, expected, strict=True))
        yield f"{DETECTOR}, {photo}: {', '.join(f'{label} {score:.2f}' for label, score in found)}", right


def segment(folder):
    names = labels("pascal_voc_segmentation_labels.txt").read_text().splitlines()
    for name, flags in SEGMENTERS.items():
        network = Network(name, folder, flags)
        for photo, (expected, least_share) in SEGMENTS.items():
            classes = network.arrays(photo)[0]
            if classes.dtype.kind == "f":
                classes = classes.argmax(axis=-1)
            counts = numpy.bincount(classes.ravel(), minlength=2)
            best = 1 + int(counts[1:].argmax())
            share = counts[best] / classes.size
            yield f"{name}, {photo}: {names[best]} on {share:.0%}", names[best] == expected and share >= least_share


def pose(folder):
    points = Network(POSE, folder).arrays("astronaut.png")[0].reshape(17, 3)
    for (name, expected), (y, x, score) in zip(KEYPOINTS.items(), points):
        near = max(abs(x - expected[0]), abs(y - expected[1])) <= KEYPOINT_TOLERANCE
        yield f"{POSE}: {name} at {x:.3f}, {y:.3f} ({score:.2f})", near and score >= LEAST_KEYPOINT_SCORE


def check(look):
    with tempfile.TemporaryDirectory() as folder:
        wrong = 0
        for line, right in look(pathlib.Path(folder)):
            print(line if right else f"{line}  WRONG")
            wrong += not right
    assert not wrong, f"{wrong} wrong"


end_to_end(lambda: check({"classify": classify, "detect": detect, "segment": segment, "pose": pose}[sys.argv[1]]))
