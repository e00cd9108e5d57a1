#!/usr/bin/env python3
"""Tests of tools/common: how it treats engines that take turns, and those that fail."""
import math
import os
import pathlib
import tempfile
import unittest

import numpy

from common import timing
from common.engines import Peer
from common.program import Failed
from common.worker import PeerProcess


# Peers that behave as engines may. Another process opens them.
def open_good(path, arrays, threads, bf16):
    return lambda: [2 * array for array in arrays]


def open_crashing(path, arrays, threads, bf16):
    os._exit(7)


def open_failing(path, arrays, threads, bf16):
    raise RuntimeError("cannot read\nthat")


def open_late(path, arrays, threads, bf16):
    outputs = iter([arrays])

    def run():
        output = next(outputs, None)
        if output is None:
            os._exit(8)
        return output
    return run


def peer(open_function, module="json"):
    return Peer("fake", "Fake", "fake-package", module, ("onnx",), open_function)


class Worker(unittest.TestCase):
    def start(self, fake):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        process = PeerProcess(fake, "model", [numpy.ones((2, 3)), numpy.zeros(1)], 1, False,
                              pathlib.Path(folder.name) / "log")
        self.addCleanup(process.close)
        return process

    def assert_fails(self, fake, reason):
        with self.assertRaisesRegex(Failed, reason):
            self.start(fake).measure(0)

    def test_a_peer_that_works(self):
        process = self.start(peer(open_good))
        self.assertEqual([output.tolist() for output in process.outputs], [[2] * 6, [0]])
        self.assertGreaterEqual(process.load_s, 0)
        self.assertEqual(len(process.measure(0)), 3)
        # It continues for the given time, unless the machine stands still for that long.
        while len(process.measure(0.02)) == 3:
            pass

    def test_peers_that_do_not(self):
        self.assert_fails(peer(open_good, "no_such_module"), "fake-package is not installed")
        self.assert_fails(peer(open_failing), "^cannot read$")
        self.assert_fails(peer(open_crashing), "ended with code 7")
        self.assert_fails(peer(open_late), "ended with code 8")


class Turns(unittest.TestCase):
    class Contestant:
        def __init__(self, name, calls, last=math.inf):
            self.name, self.calls, self.left = name, calls, last

        def measure(self, seconds):
            self.left -= 1
            if self.left < 0:
                raise Failed("tired")
            self.calls.append(self.name)
            return [1.0]

    def test_each_begins_in_its_turn(self):
        calls = []
        timing.take_turns({name: self.Contestant(name, calls) for name in "abc"}, 3, 1, settle_s=0)
        self.assertEqual("".join(calls), "abcbcacab")

    def test_one_that_fails_leaves_the_others(self):
        calls = []
        contestants = {"a": self.Contestant("a", calls, last=1), "b": self.Contestant("b", calls)}
        latencies, failures = timing.take_turns(contestants, 3, 1, settle_s=0)
        self.assertEqual(latencies, {"b": [[1.0]] * 3})
        self.assertEqual(failures, {"a": "tired"})


class Failures(unittest.TestCase):
    def test_what_attune_does_not_support_is_not_missing(self):
        self.assertEqual(timing.failed(Failed("attune ...: exit code 1\nnot supported: Conv a: 5-D"))["status"], "NS")
        self.assertEqual(timing.failed(Failed("attune ...: exit code 1\nno memory"))["status"], "missing")


if __name__ == "__main__":
    unittest.main()
