"""Shared by the command lines of all tools."""
import argparse
import json
import pathlib

from common.engines import PEERS

BAD_USAGE, INTERRUPTED = 2, 130  # exit codes


class Parser(argparse.ArgumentParser):
    """The parser of `./do TOOL`. Reports an error in one sentence."""

    def __init__(self, tool, **values):
        super().__init__(prog=f"./do {tool}", allow_abbrev=False, **values)
        self._tool = tool

    def error(self, message):
        self.exit(BAD_USAGE, f"{self._tool}: {message.removeprefix('argument ')}\n")


def count(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1")
    return int(text)


def duration(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value <= 3600:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds up to 3600")
    return value


def readers_of_integers():
    """The peers that read a format in which networks of integers are made."""
    return [name for name, peer in PEERS.items() if {"onnx", "tflite"}.intersection(peer.formats)]


def results_file(text):
    try:
        return json.loads(pathlib.Path(text).read_text())
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{text} is no results.json: {error}") from None
