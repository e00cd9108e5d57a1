"""Finds objects in a picture with YOLOX and prints a box for each: left, top, right, bottom in pixels.

python find_objects.py yolox_nano.onnx LABELS PICTURE
"""
import sys

import attune
import numpy
from PIL import Image

SIDE, STRIDES = 416, (8, 16, 32)
MIN_SCORE, MAX_OVERLAP = 0.4, 0.5


def read(path):
    """Returns the picture as the network takes it, f32[1,3,416,416] in BGR, and by how much it was scaled."""
    picture = Image.open(path).convert("RGB")
    scale = SIDE / max(picture.size)
    canvas = Image.new("RGB", (SIDE, SIDE), (114, 114, 114))
    canvas.paste(picture.resize([round(side * scale) for side in picture.size], Image.Resampling.BILINEAR))
    return numpy.asarray(canvas, numpy.float32)[:, :, ::-1].transpose(2, 0, 1)[None], scale


def decode(raw):
    """Returns boxes [n,4] of left, top, right, bottom, and scores [n,classes], from the offsets for each cell of three grids."""
    cells, strides = [], []
    for stride in STRIDES:
        side = SIDE // stride
        cells += [(x, y) for y in range(side) for x in range(side)]
        strides += [stride] * side * side
    centres, sizes = (raw[:, :2] + cells) * numpy.c_[strides], numpy.exp(raw[:, 2:4]) * numpy.c_[strides]
    return numpy.hstack([centres - sizes / 2, centres + sizes / 2]), raw[:, 4:5] * raw[:, 5:]


def overlap(box, boxes):
    """Returns intersection over union of a box with each of the others."""
    sides = numpy.minimum(box[2:], boxes[:, 2:]) - numpy.maximum(box[:2], boxes[:, :2])
    shared = sides.clip(min=0).prod(axis=1)
    return shared / ((box[2:] - box[:2]).prod() + (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) - shared)


def find(network, labels, path):
    """Yields (label, score, box) of each object, the surest first."""
    pixels, scale = read(path)
    output, = network.run({name: pixels for name in network.inputs}).values()
    boxes, scores = decode(output[0])
    classes, best = scores.argmax(axis=1), scores.max(axis=1)
    left = [index for index in (-best).argsort() if best[index] > MIN_SCORE]
    while left:
        first = left[0]
        yield labels[classes[first]], best[first], boxes[first] / scale
        near = overlap(boxes[first], boxes[left]) > MAX_OVERLAP
        left = [index for index, is_near in zip(left, near) if not (is_near and classes[index] == classes[first])]


if __name__ == "__main__":
    model, names, picture = sys.argv[1:]
    labels = [name for name in open(names).read().splitlines() if name != "n/a"]
    for label, score, box in find(attune.load(model), labels, picture):
        print(f"{label} {score:.2f}", *[round(side) for side in box])
