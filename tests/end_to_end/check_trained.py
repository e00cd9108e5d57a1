#!/usr/bin/env python3
"""check_trained.py NETWORK    a trained network gives what onnxruntime gives"""
import sys

import numpy
import PIL.Image
import PIL.ImageDraw

from checks import MODELS, end_to_end, need
from common.program import onnxruntime_session
from peers import photo, run_attune, speech, verify_attune

RANDOM = numpy.random.default_rng(0)


def page(height, width):
    """Lines of large print, for networks that look for text."""
    image = PIL.Image.new("RGB", (width, height), "white")
    draw = PIL.ImageDraw.Draw(image)
    for line, text in enumerate(["Made to run", "as fast as", "a device allows"]):
        draw.text((20, 30 + 90 * line), text, fill="black", font_size=40)
    samples = numpy.asarray(image, dtype=numpy.float32).transpose(2, 0, 1) / 127.5 - 1
    return samples[None]


def tokens(count):
    """A plausible sentence of word pieces between the marks of its beginning and end."""
    ids = numpy.array([[101, *RANDOM.integers(1996, 20000, count - 2), 102]])
    return {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}


# The file and the inputs.
NETWORKS = {
    "mnist": ("mnist-8.onnx", lambda: {"Input3": photo("coins.png", 1, 1, 28, 28, high=255)}),
    "mnist_winml": ("mnist_winml.onnx", lambda: {"Input3": photo("coins.png", 1, 1, 28, 28, high=255)}),
    "squeezenet_fp16": ("SqueezeNet_fp16.onnx",
                        lambda: {"data_0": photo("cat.bmp", 1, 3, 224, 224, high=255, dtype=numpy.float16)}),
    "minilm_int8": ("all-MiniLM-L6-v2_int8.onnx", lambda: tokens(16)),
    "yolox_nano": ("yolox_nano.onnx", lambda: {"images": photo("dogs.jpg", 1, 3, 416, 416, high=255)}),
    "ppocr_det": ("ch_PP-OCRv4_det_infer.onnx", lambda: {"x": page(320, 320)}),
    "ppocr_cls": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", lambda: {"x": photo("rocket.jpg", 1, 3, 48, 192, low=-1)}),
    "ultraface": ("version-RFB-320.onnx", lambda: {"input": photo("faces_in_snow_320_320_3.jpeg", 1, 3, 240, 320, low=-1)}),
    "yunet": ("yunet_n_320_320.onnx", lambda: {"input": photo("faces_in_snow_320_320_3.jpeg", 1, 3, 320, 320, high=255)}),
    "yunet_dynamic": ("yunet_n_dynamic.onnx", lambda: {"input": photo("faces_in_snow_320_320_3.jpeg", 1, 3, 192, 256, high=255)}),
    "fastestdet": ("FastestDet.onnx", lambda: {"input.1": photo("dogs.jpg", 1, 3, 352, 352)}),
    "espcn": ("super_resolution_10/model.onnx", lambda: {"input": photo("cat.bmp", 1, 1, 224, 224)}),
    "candy": ("candy.onnx", lambda: {"inputImage": photo("grace_hopper.bmp", 1, 3, 720, 720, high=255)}),
    "magika": ("magika_standard_v3_3.onnx", lambda: {"bytes": RANDOM.integers(0, 257, (1, 2048), dtype=numpy.int32)}),
    "basic_pitch": ("basic_pitch_nmp.onnx", lambda: {"serving_default_input_2:0": speech(1, 43844, 1)}),
}

# Networks that do not pass yet, each with the reason that the program gives.
PENDING = {}

# The tolerances of `attune verify`, absolute and relative. The absolute part is in units of the output's root mean
# square if that is over 1; not below, because onnxruntime's own sigmoid errs by 1e-7 even if its result is small.
TOLERANCES = {numpy.dtype(numpy.float32): (1e-5, 1e-4), numpy.dtype(numpy.float16): (2.5e-3, 1e-3)}

# The share of elements that may exceed it, by no more than ten times. onnxruntime rounds, too: such elements are
# compared with float64 by `attune verify`, which knows how far rounding moves each element of this network.
LARGEST_SHARE = 1e-3

# These quantize while they run, which amplifies rounding to whole steps.
DYNAMICALLY_QUANTIZED = ["minilm_int8"]


def compare(name, actual, expected, by_cosine):
    """Whether an output is within the tolerance of onnxruntime's everywhere. Ends the check if it clearly differs."""
    assert actual.shape == expected.shape, f"{name}: shape {actual.shape}, onnxruntime {expected.shape}"
    assert actual.dtype == expected.dtype, f"{name}: {actual.dtype}, onnxruntime {expected.dtype}"
    a, b = actual.astype(numpy.float64), expected.astype(numpy.float64)
    cosine = (a * b).sum() / numpy.sqrt((a * a).sum() * (b * b).sum())
    absolute, relative = TOLERANCES.get(expected.dtype, (0, 0))
    bound = absolute * max(1, numpy.sqrt((b * b).mean())) + relative * numpy.abs(b)
    error = numpy.abs(a - b)
    beyond = int((error > bound).sum())
    print(f"{name}: largest error {error.max():.2e}, cosine {cosine:.7f}, {beyond} of {error.size} beyond the tolerance")
    if by_cosine:
        assert cosine >= 0.999, f"{name} differs from onnxruntime"
        return True
    assert beyond <= LARGEST_SHARE * error.size and (error <= 10 * bound).all(), f"{name} differs from onnxruntime"
    return beyond == 0


def check(name):
    file, make_inputs = NETWORKS[name]
    model = need(MODELS / "onnx" / file)
    inputs = make_inputs()
    actual = dict(run_attune(model, inputs))
    session = onnxruntime_session(model)
    names = [output.name for output in session.get_outputs()]
    assert list(actual) == names, f"outputs are {list(actual)}, onnxruntime has {names}"
    by_cosine = name in DYNAMICALLY_QUANTIZED
    certain = [compare(output_name, actual[output_name], expected, by_cosine)
               for output_name, expected in zip(names, session.run(None, inputs))]
    if not all(certain):
        for output in verify_attune(model, inputs)["outputs"]:
            print(f"{output['name']}: {output['max_absolute_error']:.2e} from float64, {output['criterion']}")


end_to_end(lambda: check(sys.argv[1]), PENDING.get(sys.argv[1]))
