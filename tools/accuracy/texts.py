"""Sentences for networks, as tokens: plain sentences about things that ImageNet has names for.

A seed draws them from phrases and names; calibration and judging use different names and different phrases. All have
the same number of tokens, so that no network needs a mask.
"""
import random

import numpy

from common.agreement.photos import CALIBRATION, JUDGING
from common.models.files import TRAINED

TOKENS = 32
BEGIN, END = 101, 102  # the marks in BERT's vocabulary
VOCABULARY = "onnx/all-MiniLM-L6-v2_vocab.txt"

PHRASES = {
    CALIBRATION: (
        "A {0} stood beside a {1} in the pale light of the morning.",
        "The museum bought an old picture of a {0}, and nobody knew why there was a {1} in it.",
        "If you have never seen a {0}, think of a {1} and make it twice as large.",
        "She wrote to the newspaper that every {0} in town costs more than a {1}.",
        "What is the difference between a {0} and a {1}?",
        "Please send us the {0} by Friday, together with the bill for the {1}.",
        "Children draw a {0} before they can write, but few of them draw a {1}."),
    JUDGING: (
        "We found a {0} behind the house, and later that day a {1} by the river.",
        "The report says that the {0} was cheaper last year, while the {1} was sold out.",
        "How do I clean a {0} without damaging the {1} next to it?",
        "My neighbour's {0} is louder than any {1} that I have ever heard.",
        "According to the guide, the {0} is rare in the north, and the {1} is common.",
        "He took the {0} apart, put the {1} in its place and went home happy.",
        "No film about a {0} has won a prize since the one with the {1}."),
}


def names(part):
    """Half of ImageNet's classes, by their first names: every other class for each part."""
    lines = (TRAINED / "labels/imagenet_labels.txt").read_text().splitlines()[1:]  # the first is background
    return [line.split(",")[0] for line in lines[part == JUDGING::2]]


def sentences(part, count, things):
    """`count` different texts of four sentences each, which are enough for TOKENS."""
    draw, seen = random.Random(f"sentences {part}"), {}
    while len(seen) < count:
        phrases = draw.sample(PHRASES[part], 4)
        seen[" ".join(phrase.format(*draw.sample(things, 2)) for phrase in phrases)] = None
    return list(seen)


def tokens(part, count):
    """Yields the tokens of texts, [1, TOKENS]."""
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer(str(TRAINED / VOCABULARY), lowercase=True)
    for text in sentences(part, count, names(part)):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        yield numpy.array([[BEGIN, *ids[:TOKENS - 2], END]], dtype=numpy.int64)
