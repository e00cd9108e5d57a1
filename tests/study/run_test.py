#!/usr/bin/env python3
"""Tests of how tools/study measures: streams, power, samples, agreement, and which steps it repeats."""
import importlib.util
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import numpy

from common.agreement import photos
from common.program import Failed
from study import agreement, lab, making, networks, power, samples, streams
from study.streams import Stream

RESNET, MOBILENET, DETECTOR = networks.NETWORKS


class Networks(unittest.TestCase):
    def test_setups_have_no_twins(self):
        self.assertEqual([setup.name for setup in networks.setups(2)], ["b1-s1-t1", "b1-s1-t2", "b1-s2-t1", "b8-s1-t2"])
        self.assertEqual([setup.name for setup in networks.setups(1)], ["b1-s1-t1", "b8-s1-t1"])
        self.assertEqual([setup.name for setup in networks.busy_setups(2)], ["b1-s1-t2", "b1-s2-t1", "b8-s1-t2"])
        self.assertEqual([setup.name for setup in networks.quiet_setups(2)], ["b1-s1-t1", "b1-s1-t2"])

    def test_titles(self):
        self.assertEqual(networks.Setup(1, 2, 1).title, "batch 1 × 2 streams × 1 thread")

    def test_contestants_have_keys_of_their_own(self):
        keys = [networks.key_of(*each) for each in networks.contestants(["onnxruntime", "litert"])]
        self.assertEqual(len(set(keys)), len(networks.VERSIONS) + 4)
        self.assertIn("onnxruntime int8", keys)

    def test_cases_are_those_of_the_lab(self):
        self.assertEqual(RESNET.case(8, "int8").name, "resnet50v2-b8-int8")
        self.assertEqual(MOBILENET.case().shape, (1, 224, 224, 3))


class Samples(unittest.TestCase):
    def test_spreading_shares_out_each_pixel(self):
        spread = samples.spreading(10, 4)
        self.assertEqual(spread.shape, (10, 4))
        numpy.testing.assert_allclose(spread.sum(axis=1), 1)
        numpy.testing.assert_array_equal(spread[[0, -1]], numpy.eye(4)[[0, -1]])

    def test_smooth_noise(self):
        one, same, other = (samples.smooth_noise(64, seed) for seed in ([0, 1], [0, 1], [1, 1]))
        numpy.testing.assert_array_equal(one, same)
        self.assertGreater(abs(one - other).mean(), 0.1)
        self.assertEqual((one.shape, one.dtype, one.min(), one.max()), ((64, 64, 3), numpy.float32, -1, 1))
        self.assertLess(abs(numpy.diff(one, axis=1)).mean(), 0.2 * one.std())  # neighbours are alike

    def test_pictures_that_are_drawn(self):
        with mock.patch.object(samples, "source", lambda: "generated"):
            shapes = [next(samples.pictures(network, samples.JUDGING, 1)).shape for network in (RESNET, DETECTOR)]
            two = list(samples.pictures(RESNET, samples.CALIBRATION, 2))
        self.assertEqual(shapes, [(1, 224, 224, 3), (1, 3, 300, 300)])
        self.assertGreater(abs(two[0] - two[1]).mean(), 0.1)

    @unittest.skipUnless(importlib.util.find_spec("PIL"), "needs Pillow")
    def test_pictures_of_photos(self):
        import PIL.Image

        with tempfile.TemporaryDirectory() as name, mock.patch.object(photos, "TRAINED", pathlib.Path(name)):
            photos.load.cache_clear()
            (pathlib.Path(name) / "images").mkdir()
            for photo, shade in ((photos.CALIBRATION_PHOTOS[0], 0), ("other.png", 255)):
                image = PIL.Image.new("RGB", (40, 30), (shade, shade, shade))
                image.save(pathlib.Path(name) / "images" / photo)
            self.assertEqual(samples.source(), "photos")
            dark, light = (list(samples.pictures(DETECTOR, part, 2)) for part in (samples.CALIBRATION, samples.JUDGING))
            photos.load.cache_clear()
        self.assertEqual([array.shape for array in dark + light], [(1, 3, 300, 300)] * 4)
        self.assertLess(numpy.max(dark), -0.9)
        self.assertGreater(numpy.min(light), 0.9)

    def test_batches_hold_back_the_same_samples(self):
        singles = [numpy.full((1, 2), number) for number in range(64)]
        self.assertEqual(len(samples.stacked(singles, 1)), 64)
        numpy.testing.assert_array_equal(samples.stacked(singles, 1), singles)
        batches = samples.stacked(singles, 8)
        self.assertEqual({batch.shape for batch in batches}, {(8, 2)})
        held = numpy.concatenate(batches[3::4])[:, 0]
        self.assertEqual(sorted(held), list(range(3, 64, 4)))
        self.assertEqual(sorted(numpy.concatenate(batches)[:, 0]), list(range(64)))

    def test_there_are_whole_batches(self):
        for batch in networks.BATCHES:
            self.assertEqual(samples.QUANTIZING % (batch * samples.HELD_BACK_PERIOD), 0)


class Streams(unittest.TestCase):
    def test_what_counts_is_the_time_of_all(self):
        # From 0 to 1 s and from 0.5 to 1.5 s.
        one, other = Stream(1.0, [250.0] * 4), Stream(1.5, [500.0] * 2)
        start, end = streams.common_time([one, other])
        self.assertAlmostEqual(start, 0.5)
        self.assertAlmostEqual(end, 1.0)
        self.assertEqual(streams.within(one, start, end), (2.0, [250.0] * 2))
        turn = streams.turn_of([one, other], 1, None)
        self.assertEqual(turn, streams.Turn([250.0, 250.0, 500.0], 6.0, None))

    def test_inferences_at_the_ends_count_in_parts(self):
        count, whole = streams.within(Stream(1.0, [400.0, 400.0, 200.0]), 0.2, 0.9)
        self.assertAlmostEqual(count, 0.5 + 1 + 0.5)
        self.assertEqual(whole, [400.0])

    def test_a_single_stream_counts_wholly(self):
        turn = streams.turn_of([Stream(7.0, [100.0, 300.0])], 8, lambda start, end: 10 * (end - start))
        self.assertAlmostEqual(turn.per_second, 40)
        self.assertEqual(turn.latencies, [100, 300])
        self.assertAlmostEqual(turn.watts, 10)

    def test_streams_one_after_the_other_are_none(self):
        with self.assertRaisesRegex(Failed, "at the same time"):
            streams.turn_of([Stream(1.0, [500.0]), Stream(2.0, [500.0])], 1, None)
        with self.assertRaisesRegex(Failed, "no inference"):
            streams.turn_of([Stream(1.0, [900.0]), Stream(1.5, [900.0])], 1, None)

    def test_summary(self):
        turns = [streams.Turn([5.0], 200.0, 20.0), streams.Turn([4.0, 6.0], 100.0, 30.0),
                 streams.Turn([5.0], 300.0, 30.0)]
        found = streams.summary(turns)
        self.assertEqual((found["per_second"], found["watts"], found["joules"]), (200, 30, 0.1))
        self.assertEqual(found["latency"]["median_ms"], 5)
        self.assertNotIn("watts", streams.summary([streams.Turn([5.0], 200.0, None)]))

    def test_each_stream_has_processors_of_its_own(self):
        setup = networks.Setup(1, 2, 2)
        self.assertEqual([streams.processors_of(stream, setup, {7, 1, 3, 5, 9}) for stream in range(2)],
                         [{1, 3}, {5, 7}])
        self.assertEqual(streams.processors_of(0, networks.Setup(1, 1, 2), {1, 3, 5}), {1, 3, 5})
        self.assertEqual(streams.processors_of(1, setup, {1, 3}), {1, 3})

    def test_processors_are_given_back(self):
        before = os.sched_getaffinity(0)
        with self.assertRaises(Failed), streams.bound_to({min(before)}):
            self.assertEqual(os.sched_getaffinity(0), {min(before)})
            raise Failed("x")
        self.assertEqual(os.sched_getaffinity(0), before)

    def test_runners_run_at_once(self):
        runner = mock.Mock(measure=lambda seconds: [1e3 * seconds] * 5)
        turn = streams.Streams([runner, runner], 2, None).measure(1.0)
        self.assertAlmostEqual(turn.per_second, 4, delta=0.01)


class Power(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def zone(self, path, name, energy=0, full=1000):
        zone = self.folder / path
        zone.mkdir()
        for file, value in (("name", name), ("energy_uj", energy), ("max_energy_range_uj", full)):
            (zone / file).write_text(f"{value}\n")
        return zone / "energy_uj"

    def test_packages_alone_count_and_once_each(self):
        for path, name in (("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "core"), ("intel-rapl:1", "package-1"),
                           ("intel-rapl:2", "psys"), ("intel-rapl-mmio:0", "package-0")):
            self.zone(path, name)
        (self.folder / "intel-rapl").mkdir()
        self.assertEqual(sorted(zone.name for zone in power.packages(self.folder)), ["package-0", "package-1"])
        self.assertEqual(power.describe(self.folder)["status"], "ran")

    def test_without_counters_power_is_not_known(self):
        for folder in (self.folder, self.folder / "none"):
            self.assertEqual(power.describe(folder)["status"], "NS")
        self.zone("intel-rapl:0", "package-0").unlink()
        self.assertIn("cannot be read", power.describe(self.folder)["reason"])

    def test_counters_that_are_not_for_all_to_read(self):
        self.zone("intel-rapl:0", "package-0")
        with mock.patch.object(power.Zone, "read", side_effect=PermissionError):
            self.assertIn("not for this user", power.describe(self.folder)["reason"])

    def test_energy_between_two_times(self):
        counters = [self.zone(f"intel-rapl:{i}", f"package-{i}", full=9_000_000) for i in range(2)]
        times = iter([0.0, 1.0, 2.0])
        meter = power.Meter(power.packages(self.folder), clock=lambda: next(times))
        for readings in ((0, 8_000_000), (2_000_000, 1_000_000), (3_000_000, 1_000_000)):
            for counter, reading in zip(counters, readings):
                counter.write_text(str(reading))
            meter.read()
        # The second counter wraps around and adds 2 J; its 8 J before the first reading do not count.
        self.assertAlmostEqual(meter.joules(0, 1), 4)
        self.assertAlmostEqual(meter.joules(0.5, 1.5), 2.5)

    def test_a_meter_watches_while_it_is_asked_to(self):
        counter = self.zone("intel-rapl:0", "package-0", full=9_000_000)
        times = iter(range(1000))
        with power.Meter(power.packages(self.folder), clock=lambda: next(times), interval_s=0.001) as meter:
            counter.write_text("5000000")
        self.assertAlmostEqual(meter.joules(0, 1000), 5)


def boxes(*found):
    """The outputs of a detector, from (left, score, class) each."""
    corners = [[0.0, left, 0.5, left + 0.5] for left, _, _ in found]
    return [numpy.array(corners, dtype=numpy.float32).reshape(-1, 4),
            numpy.array([score for _, score, _ in found], dtype=numpy.float32),
            numpy.array([label for *_, label in found], dtype=numpy.int64)]


class Agreement(unittest.TestCase):
    def test_classes(self):
        expected = [[numpy.array([[1.0, 0.0]])], [numpy.array([[0.0, 1.0]])]]
        actual = [[numpy.array([[2.0, 0.0]])], [numpy.array([[1.0, 0.0]])]]
        found = agreement.compare(RESNET, expected, actual)
        self.assertEqual((found["samples"], found["top1"], found["cosine"]), (2, 0.5, 0.5))
        self.assertNotIn("boxes_f1", found)

    def test_a_detector_has_the_score_of_the_surest_box(self):
        scores = agreement.scores_of(DETECTOR, boxes((0, 0.4, 3), (0.2, 0.9, 3), (0.4, 0.5, 90)))
        self.assertEqual(scores.shape, (91,))
        self.assertAlmostEqual(scores[3], 0.9, delta=1e-6)
        self.assertEqual(numpy.flatnonzero(scores).tolist(), [3, 90])

    def test_boxes(self):
        expected = [boxes((0, 0.9, 1), (0.4, 0.8, 2)), boxes()]
        actual = [boxes((0.3, 0.7, 2), (0.01, 0.6, 1)), boxes((0, 0.5, 5))]
        found = agreement.compare(DETECTOR, expected, actual)
        self.assertEqual(found["expected_boxes"], 2)
        self.assertAlmostEqual(found["boxes_f1"], 2 * 2 / 5)
        self.assertEqual(agreement.compare(DETECTOR, expected, expected)["boxes_f1"], 1)


class Making(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.commands = []
        for target, name, value in ((making, "FOLDER", pathlib.Path(folder.name)),
                                    (making, "attune_json", self.program),
                                    (making, "float_model", lambda network, batch: "net.onnx"),
                                    (samples, "folder", lambda network, batch: pathlib.Path("data"))):
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def program(self, command, *arguments):
        self.commands.append([command, *map(str, arguments)])
        pathlib.Path(arguments[-1]).write_bytes(b"1234567")
        if command == "quantize":
            return {"agreement": 1, "cosine": 1, "calibration_samples": 48, "held_back_samples": 16, "float_bytes": 40,
                    "bytes": 10, "layers": [{"precision": "int8"}, {"precision": "int8"}, {"precision": "bf16"}]}
        return {"kernels": 5, **({"bf16": {"layers": [{"precision": "bf16"}]}} if "bf16" in arguments else {})}

    def test_floats_are_compiled(self):
        entry = making.make(RESNET, networks.FLOAT, 1)
        path = str(making.artifact(RESNET, networks.FLOAT, 1))
        self.assertEqual(self.commands, [["compile", "net.onnx", "-o", path]])
        self.assertEqual(entry, {"status": "made", "bytes": 7, "kernels": 5})
        self.assertTrue(making.is_there(RESNET, networks.FLOAT, 1))

    def test_integers_are_quantized_and_compiled(self):
        version = networks.version_named("clustered")
        entry = making.make(RESNET, version, 8)
        quantize, compile_ = self.commands
        self.assertEqual(quantize[:6], ["quantize", "net.onnx", "--data", "data", "--clusters", "16"])
        self.assertEqual(compile_[:3], ["compile", quantize[-1], "--compact"])
        self.assertEqual(entry["layers"], {"int8": 2, "bf16": 1})
        self.assertEqual(entry["quantize"]["held_back_samples"], 16)
        making.quantized_model(RESNET, version, 8).unlink()
        self.assertFalse(making.is_there(RESNET, version, 8))

    def test_bf16_looks_at_a_picture(self):
        entry = making.make(RESNET, networks.version_named("bf16"), 1)
        self.assertEqual(self.commands[0][2:6], ["--precision", "bf16", "--input", "data/000.npy"])
        self.assertEqual(entry["layers"], {"bf16": 1})


class Floats(unittest.TestCase):
    def test_the_detector_has_no_batches(self):
        with self.assertRaises(Failed) as caught:
            making.float_model(DETECTOR, 8)
        self.assertEqual(lab.failed(caught.exception)["status"], "NS")
        self.assertNotIn("NS", lab.failed(caught.exception)["reason"])


if __name__ == "__main__":
    unittest.main()
