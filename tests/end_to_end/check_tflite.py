#!/usr/bin/env python3
"""check_tflite.py [NAME ...]    trained TensorFlow Lite networks give what LiteRT gives

Prints a line for each of the networks in the folder of trained ones, or for those whose names contain a NAME, and exits
with 1 if one is wrong. LiteRT runs with its reference kernels on one thread. It comes with the set-up of the
benchmarks: build/bench/python/bin/python tests/end_to_end/check_tflite.py
"""
import numpy

from checks import MODELS, need
from litert import run_litert
from peers import Report, is_asked_for, is_image, photo, random_input, run_attune, speech

# For networks that take an image as floats: a photo, and the numbers for its black and white. Networks that take
# integers get the whole range of their type.
PHOTOS = {
    "deeplabv3_257_mv_gpu": ("cat.bmp", -1, 1),
    "face_detection_short_range": ("faces_in_snow_320_320_3.jpeg", -1, 1),
    "face_landmark": ("face.jpg", 0, 1),
    "hand_landmark_lite": ("person_192_192_3.jpeg", 0, 1),
    "mobilenet_v1_0.25_224_1_default_1": ("grace_hopper.bmp", -1, 1),
    "palm_detection_lite": ("person_192_192_3.jpeg", 0, 1),
    "pretrainedResnet": ("cat.bmp", 0, 255),
    "selfie_segmentation": ("astronaut.png", 0, 1),
    "yolox_nano_int8_quantize": ("dogs.jpg", 0, 255),
}
PHOTO = "grace_hopper.bmp"

# Networks that take raw sound.
SOUNDS = ("basic_pitch_nmp",)

# The share of floats that may exceed the tolerance, by no more than ten times: rounding explains it in networks that
# amplify errors.
SHARES = {"basic_pitch_nmp": 0.001}


def make_input(name, generator, detail):
    """A photo if the network takes an image, otherwise sound or random values. `detail` is what LiteRT says about the
    input."""
    shape, dtype = tuple(int(size) for size in detail["shape"]), numpy.dtype(detail["dtype"])
    if name in SOUNDS:
        return speech(*shape)
    if not is_image(shape):
        return random_input(generator, shape, dtype)
    if dtype.kind in "iu":
        limits = numpy.iinfo(dtype)
        return photo(PHOTO, *shape, low=limits.min, high=limits.max, dtype=dtype)
    file, low, high = PHOTOS.get(name, (PHOTO, 0, 1))
    return photo(file, *shape, low=low, high=high, dtype=dtype)


def main():
    report = Report("LiteRT")
    for path in sorted(need(MODELS / "tflite").glob("*.tflite")):
        name = path.stem
        if not is_asked_for(name):
            continue
        generator = numpy.random.default_rng(0)
        with report.model(name, path):
            inputs, expected = run_litert(path, lambda detail: make_input(name, generator, detail))
            report.compare(name, run_attune(path, inputs), expected, SHARES.get(name, 0))
    report.finish()


if __name__ == "__main__":
    main()
