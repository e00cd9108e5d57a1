"""Reads the lines of a page with PP-OCR: one network finds them, another one reads each.

pip install --no-deps rapidocr-onnxruntime     # has the networks, ch_PP-OCRv4_det_infer.onnx and ch_PP-OCRv4_rec_infer.onnx
python read_text.py DETECTOR RECOGNIZER PICTURE

lines() and read() take networks of any engine: what they need is run({name: array}), which returns {name: array}.
"""
import sys

import numpy
from PIL import Image

MIN_TEXT = 0.3
HEIGHT = 48
WIDTHS = [160, 320, 640, 960]


def tensor(picture):
    """Returns the picture as the networks take it, f32[1,3,height,width] from -1 to 1."""
    return numpy.asarray(picture, numpy.float32).transpose(2, 0, 1)[None] / 127.5 - 1


def runs(mask):
    """Yields start and end of each run of true elements."""
    edges = numpy.flatnonzero(numpy.diff(numpy.r_[False, mask, False]))
    yield from zip(edges[::2], edges[1::2])


def lines(detector, picture):
    """Yields each line of text as a picture, from top to bottom. Lines are taken to be horizontal, in one column."""
    sides = [max(32, round(side / 32) * 32) for side in picture.size]
    text = detector.run({"x": tensor(picture.resize(sides))}).popitem()[1][0, 0] > MIN_TEXT
    across, down = picture.width / sides[0], picture.height / sides[1]
    for top, bottom in runs(text.any(axis=1)):
        columns = numpy.flatnonzero(text[top:bottom].any(axis=0))
        border = (bottom - top) * 0.7  # the network marks the middle of a line
        yield picture.crop([round(side) for side in ((columns[0] - border) * across, (top - border) * down,
                                                     (columns[-1] + border) * across, (bottom + border) * down)])


def read(recognizer, characters, line):
    """Returns the text of a line: the best character at each step, without repetitions and blanks (CTC)."""
    width = min(round(line.width * HEIGHT / line.height), WIDTHS[-1])
    padded = numpy.zeros((1, 3, HEIGHT, next(size for size in WIDTHS if size >= width)), numpy.float32)
    padded[..., :width] = tensor(line.resize((width, HEIGHT)))
    best = recognizer.run({"x": padded}).popitem()[1][0].argmax(axis=1)
    return "".join(characters[step] for step, before in zip(best, [0, *best]) if step and step != before)


if __name__ == "__main__":
    import attune
    import attune.onnxruntime

    model, reader, path = sys.argv[1:]
    facts = attune.onnxruntime.InferenceSession(reader).get_modelmeta().custom_metadata_map
    characters = ["", *facts["character"].splitlines(), " "]
    recognizer = attune.load(reader)
    for line in lines(attune.load(model), Image.open(path).convert("RGB")):
        print(read(recognizer, characters, line))
