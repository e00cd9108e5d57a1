"""The pictures of the demo: photographed pages with lines of text, drawn here, and what the networks take of them."""
import random

import numpy
from PIL import Image, ImageDraw, ImageFilter

from common.program import ROOT

SIZE = (640, 384)
LINES = ["Attune compiles networks,", "measures their kernels,", "and takes the fastest."]
TURNS = (0, 90, 180, 270)  # degrees, clockwise
FIRST_LINE, LINE_DISTANCE, MARGIN, FONT_SIZE = 44, 108, 48, 40  # pixels

# As ImageNet's photos are normalized, https://pytorch.org/vision/stable/models.html
MEAN, DEVIATION = numpy.float32([0.485, 0.456, 0.406]), numpy.float32([0.229, 0.224, 0.225])
SHORT_SIDE, SIDE = 256, 224  # of the whole picture, and of its middle, which the classifier sees


def page(lines, seed=0):
    """Returns a picture of SIZE of dark text on grey paper, which is lit from one side, with a camera's blur and noise."""
    draw = numpy.random.default_rng(seed)
    light = numpy.linspace(235, draw.integers(170, 235), SIZE[0])
    paper = Image.fromarray(numpy.tile(light, (SIZE[1], 1)).astype(numpy.uint8)).convert("RGB")
    for number, line in enumerate(lines):
        ImageDraw.Draw(paper).text((MARGIN, FIRST_LINE + number * LINE_DISTANCE), line, fill=(40, 40, 48), font_size=FONT_SIZE)
    pixels = numpy.asarray(paper.filter(ImageFilter.GaussianBlur(0.7)), numpy.float32)
    noisy = pixels + draw.normal(0, 4, pixels.shape)
    return Image.fromarray(noisy.clip(0, 255).astype(numpy.uint8))


def turned(picture, degrees):
    """Returns the picture, turned clockwise by a multiple of 90 degrees."""
    return picture.rotate(-degrees, expand=True)


def classifier_input(picture):
    """Returns the middle of the picture as the classifier of orientation takes it, f32[1,3,224,224]."""
    scale = SHORT_SIDE / min(picture.size)
    scaled = picture.resize([round(side * scale) for side in picture.size])
    left, top = ((side - SIDE) // 2 for side in scaled.size)
    middle = scaled.crop((left, top, left + SIDE, top + SIDE))
    normalized = (numpy.asarray(middle, numpy.float32) / 255 - MEAN) / DEVIATION
    return normalized.transpose(2, 0, 1)[None]


def samples(count):
    """Yields inputs of the classifier for quantization: pages of other words and light, turned each way."""
    words = (ROOT / "README.md").read_text().split()
    draw = random.Random(1)
    for number in range(count):
        lines = [" ".join(draw.choices(words, k=3)) for _ in LINES]
        yield classifier_input(turned(page(lines, seed=number + 1), TURNS[number % len(TURNS)]))
