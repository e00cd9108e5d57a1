#!/usr/bin/env python3
"""Tests of the data of tools/accuracy: crops of photos, windows of sound and their features, texts."""
import pathlib
import tempfile
import unittest
from unittest import mock

import numpy
import PIL.Image

from accuracy import sounds, texts
from accuracy.networks import NETWORKS
from common.agreement import photos
from common.agreement.photos import CALIBRATION, FACES, JUDGING, Crop, Pictures
from common.models.files import TRAINED

PARTS = (CALIBRATION, JUDGING)
SIZES = {"wide": (600, 400), "high": (128, 224), "small": (96, 96)}
HAS_MODELS = TRAINED.is_dir()


class Crops(unittest.TestCase):
    def test_they_are_the_same_each_time(self):
        self.assertEqual(photos.crops(SIZES, 50, 4 / 3, 0.4, "seed"), photos.crops(SIZES, 50, 4 / 3, 0.4, "seed"))
        self.assertNotEqual(photos.crops(SIZES, 50, 4 / 3, 0.4, "seed"), photos.crops(SIZES, 50, 4 / 3, 0.4, "other"))
        self.assertEqual(photos.crops(SIZES, 5, 1, 0.4, "seed"), photos.crops(SIZES, 50, 1, 0.4, "seed")[:5])

    def test_they_differ_and_take_turns(self):
        found = photos.crops(SIZES, 300, 1, 0.4, "seed")
        self.assertEqual(len(set(found)), 300)
        self.assertEqual([crop.photo for crop in found], list(SIZES) * 100)

    def test_they_lie_within_the_photo_and_have_the_aspect(self):
        for aspect in (0.5, 1, 4 / 3):
            for crop in photos.crops(SIZES, 200, aspect, 0.3, "seed"):
                left, top, right, bottom = crop.box
                width, height = SIZES[crop.photo]
                self.assertTrue(0 <= left < right <= width and 0 <= top < bottom <= height, crop)
                self.assertAlmostEqual((right - left) / (bottom - top), aspect, delta=aspect * 2 / (bottom - top))
                self.assertGreaterEqual(right - left + 1, 0.3 * min(width, height * aspect))

    def test_no_photo_is_in_both_parts(self):
        names = ["owl.jpg", "face.jpg", "astronaut.png", "new.png"]
        self.assertEqual(photos.part_of(names, CALIBRATION), ["owl.jpg", "astronaut.png"])
        self.assertEqual(photos.part_of(names, JUDGING), ["face.jpg", "new.png"])

    @unittest.skipUnless(HAS_MODELS, "the photos are missing")
    def test_all_photos_are_there(self):
        everything = {path.name for path in (TRAINED / "images").iterdir()}
        self.assertLessEqual({*photos.CALIBRATION_PHOTOS, *FACES}, everything)
        for pictures in (Pictures(8, 8, 0, 1), Pictures(8, 8, 0, 1, photos=FACES)):
            calibration, judging = (set(pictures.names(part)) for part in PARTS)
            self.assertTrue(calibration and judging)
            self.assertFalse(calibration & judging)


class Arrays(unittest.TestCase):
    def setUp(self):
        # Red grows to the right, green downwards, and there is no blue.
        pixels = numpy.zeros((40, 60, 3), dtype=numpy.uint8)
        pixels[:, :, 0] = numpy.arange(60) * 4
        pixels[:, :, 1] = numpy.arange(40)[:, None] * 4
        self.load = mock.patch.object(photos, "load", return_value=PIL.Image.fromarray(pixels))
        self.load.start()
        self.addCleanup(self.load.stop)

    def test_layout_range_and_order(self):
        crop = Crop("any", (10, 0, 30, 20), False)
        plain = Pictures(20, 20, 0, 255).array(crop)
        self.assertEqual((plain.shape, plain.dtype), ((1, 20, 20, 3), numpy.float32))
        self.assertEqual(plain[0, 5, 0].tolist(), [40, 20, 0])
        first = Pictures(20, 20, 0, 255, channels_first=True).array(crop)
        numpy.testing.assert_array_equal(first, plain.transpose(0, 3, 1, 2))
        numpy.testing.assert_array_equal(Pictures(20, 20, 0, 255, is_bgr=True).array(crop), plain[..., ::-1])
        numpy.testing.assert_allclose(Pictures(20, 20, -1, 1).array(crop), plain / 127.5 - 1, atol=1e-6)

    def test_mirrored(self):
        one, other = (Pictures(20, 20, 0, 255).array(Crop("any", (10, 0, 30, 20), value)) for value in (False, True))
        numpy.testing.assert_array_equal(one[:, :, ::-1], other)

    def test_size_is_the_networks(self):
        self.assertEqual(Pictures(32, 24, 0, 1).array(Crop("any", (0, 0, 60, 40), False)).shape, (1, 24, 32, 3))


class Sounds(unittest.TestCase):
    def test_windows_begin_again_and_change_their_speed(self):
        recording = numpy.arange(10.0)
        numpy.testing.assert_allclose(sounds.window(recording, 8, 1, 4), [8, 9, 0, 1])
        numpy.testing.assert_allclose(sounds.window(recording, -1, 1, 3), [9, 0, 1])
        numpy.testing.assert_allclose(sounds.window(recording, 2, 0.5, 4), [2, 2.5, 3, 3.5])

    def test_parts_share_no_sample(self):
        for one in sounds.SOURCES[CALIBRATION]:
            for other in sounds.SOURCES[JUDGING]:
                apart = one.file != other.file or one.end <= other.begin or other.end <= one.begin
                self.assertTrue(apart, (one, other))

    def test_windows_are_the_same_each_time_and_differ(self):
        noise = numpy.random.default_rng(0).uniform(-1, 1, 20000)
        with mock.patch.object(sounds, "read", return_value=noise):
            once, again = (list(sounds.windows(JUDGING, 12, 100)) for _ in range(2))
            other = list(sounds.windows(CALIBRATION, 12, 100))
        numpy.testing.assert_array_equal(once, again)
        self.assertEqual(len({window.tobytes() for window in (*once, *other)}), 24)
        self.assertLessEqual(numpy.abs(once).max(), 1)

    def test_word_features_of_silence(self):
        # All bands have the same logarithm: the first coefficient is their sum, the others are 0.
        features = sounds.word_features(numpy.zeros(sounds.RATE))
        self.assertEqual((features.shape, features.dtype), ((1, 49, 10, 1), numpy.float32))
        numpy.testing.assert_allclose(features[0, :, 0, 0], numpy.log(1e-6) * 80 / numpy.sqrt(80), rtol=1e-5)
        numpy.testing.assert_allclose(features[0, :, 1:, 0], 0, atol=1e-4)

    def test_machine_features_are_frame_by_frame(self):
        sound = numpy.random.default_rng(0).standard_normal(1024 + 5 * 512)
        one, next_one = sounds.machine_features(sound[:3072]), sounds.machine_features(sound[512:])
        self.assertEqual((one.shape, one.dtype), ((1, 640), numpy.float32))
        numpy.testing.assert_allclose(one[0, 128:], next_one[0, :512], rtol=1e-6)

    def test_a_tone_is_in_its_band(self):
        tone = numpy.sin(2 * numpy.pi * 1000 * numpy.arange(1024) / sounds.RATE)
        energies = (sounds.spectra(tone, 1024, 512, 1024) ** 2 @ sounds.machine_bands())[0]
        frequencies = numpy.linspace(0, sounds.RATE / 2, 513)
        bands = sounds.machine_bands()
        centers = (bands * frequencies[:, None]).sum(axis=0) / numpy.maximum(bands.sum(axis=0), 1e-9)
        self.assertAlmostEqual(centers[energies.argmax()], 1000, delta=20)

    def test_bands_rise_and_fall(self):
        numpy.testing.assert_allclose(sounds.triangles(numpy.array([0.0, 2, 4]), numpy.arange(6.0))[:, 0],
                                      [0, 0.5, 1, 0.5, 0, 0])
        self.assertEqual(sounds.word_bands().shape, (257, 40))
        self.assertEqual(sounds.machine_bands().shape, (513, 128))
        # Slaney's bands have an area of 1 where they are wide enough for the spectrum to see it.
        step = sounds.RATE / 1024
        numpy.testing.assert_allclose(sounds.machine_bands()[:, 100:].sum(axis=0) * step, 1, rtol=0.05)


class Texts(unittest.TestCase):
    THINGS = [f"thing {number}" for number in range(20)]

    def test_sentences_differ_and_are_the_same_each_time(self):
        found = texts.sentences(JUDGING, 50, self.THINGS)
        self.assertEqual(len(set(found)), 50)
        self.assertEqual(found, texts.sentences(JUDGING, 50, self.THINGS))
        self.assertTrue(all(len(text.split()) >= texts.TOKENS for text in found))

    def test_parts_share_neither_phrases_nor_names(self):
        self.assertFalse(set(texts.PHRASES[CALIBRATION]) & set(texts.PHRASES[JUDGING]))
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(texts, "TRAINED", pathlib.Path(folder)):
            (pathlib.Path(folder) / "labels").mkdir()
            (pathlib.Path(folder) / "labels/imagenet_labels.txt").write_text("background\na, b\nc\nd, e\nf\n")
            self.assertEqual([texts.names(part) for part in PARTS], [["a", "d"], ["c", "f"]])


class Networks(unittest.TestCase):
    @unittest.skipUnless(HAS_MODELS, "the trained networks are missing")
    def test_samples_differ_between_the_parts(self):
        for name in ("tiny_resnet", "tiny_keywords", "tiny_anomalies"):
            samples = [sample.tobytes() for part in PARTS for sample in NETWORKS[name].samples(part, 6)]
            self.assertEqual(len(set(samples)), 12, name)

    def test_a_network_without_a_litert_form_says_why(self):
        for network in NETWORKS.values():
            self.assertTrue(network.litert_note, network.name)


if __name__ == "__main__":
    unittest.main()
