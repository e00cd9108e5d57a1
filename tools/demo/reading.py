"""Reads a photo with any engine: the text of its lines, and which way up it is."""
import sys
from dataclasses import dataclass

from common.program import ROOT
from demo import pictures
from demo.networks import CLASSIFIER, DETECTOR, RECOGNIZER

sys.path.append(str(ROOT / "docs/examples"))
import read_text  # noqa: E402  from the folder above


@dataclass(frozen=True)
class Found:
    lines: list[str]  # from top to bottom
    turns: list[str]  # the label of the photo, turned by each of pictures.TURNS

    def by_place(self):
        """{what was looked at: what was found}"""
        return {**{f"line {number}": line for number, line in enumerate(self.lines, 1)},
                **{f"turned by {turn}°": f"{label}°" for turn, label in zip(pictures.TURNS, self.turns)}}


RIGHT = Found(pictures.LINES, [str(turn) for turn in pictures.TURNS])


def find(engines, photo, characters, turns):
    """Reads the photo, and turns it. `engines`: {network: engine}; `characters`, `turns`: the labels of recognizer and
    classifier."""
    lines = [read_text.read(engines[RECOGNIZER], ["", *characters, " "], line)
             for line in read_text.lines(engines[DETECTOR], photo)]
    outputs = [engines[CLASSIFIER].run({"x": pictures.classifier_input(pictures.turned(photo, turn))})["output"]
               for turn in pictures.TURNS]
    return Found(lines, [turns[output.argmax()] for output in outputs])
