"""The examples of docs/examples/ that find something, and those of the front page, run as a user runs them, on trained networks."""
import importlib.util
import os
import pathlib
import re
import sys
import tempfile
import unittest

from PIL import Image, ImageDraw

from checks import MODELS, need
from commands import run
from environment import ROOT, make_environment

EXAMPLES = ROOT / "docs" / "examples"
PAGE = ["Made to run", "as fast as", "a device allows."]
MINILM, VOCABULARY = MODELS / "onnx/all-MiniLM-L6-v2_int8.onnx", MODELS / "onnx/all-MiniLM-L6-v2_vocab.txt"
IMAGENET = MODELS / "labels/imagenet_labels.txt"
MOBILENET = MODELS / "tflite/mobilenet_v1_0.25_224_1_default_1.tflite"
CAT = MODELS / "images/cat.bmp"


class ExamplesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.python = make_environment(cls.folder / "environment")
        # All that they store is in the folder, and the commands find the program of the build.
        cls.environment = {**os.environ, "HOME": str(cls.folder), "XDG_CACHE_HOME": str(cls.folder),
                           "XDG_DATA_HOME": str(cls.folder), "ATTUNE_RECORDS": str(cls.folder / "records.db"),
                           "PATH": f"{pathlib.Path(os.environ['ATTUNE']).parent}:{os.environ['PATH']}"}

    def run_here(self, *command):
        return run(*command, cwd=self.folder, env=self.environment)

    def run_example(self, name, *arguments):
        return self.run_here(self.python, EXAMPLES / f"{name}.py", *arguments).splitlines()

    def link(self, name, path):
        (self.folder / name).symlink_to(need(path))

    def front_page(self, language):
        """The first block of code in a language."""
        return re.search(rf"^```{language}\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)[1]

    def test_objects_are_found(self):
        said = self.run_example("find_objects", need(MODELS / "onnx/yolox_nano.onnx"), MODELS / "labels/coco_labels.txt",
                                MODELS / "images/dogs.jpg")
        boxes = [(label, *map(int, sides)) for label, _, *sides in map(str.split, said)]
        expected = [("dog", 100, 22, 253, 392), ("dog", 367, 140, 538, 336)]
        self.assertEqual([box[0] for box in boxes], [box[0] for box in expected], said)
        for box, right in zip(boxes, expected):
            self.assertLessEqual(max(abs(a - b) for a, b in zip(box[1:], right[1:])), 2, said)

    def test_text_is_read(self):
        page = Image.new("RGB", (480, 320), "white")
        for line, text in enumerate(PAGE):
            ImageDraw.Draw(page).text((20, 30 + 90 * line), text, fill="black", font_size=40)
        page.save(self.folder / "page.png")
        package = pathlib.Path(importlib.util.find_spec("rapidocr_onnxruntime").origin).parent / "models"
        self.assertEqual(self.run_example("read_text", package / "ch_PP-OCRv4_det_infer.onnx",
                                          package / "ch_PP-OCRv4_rec_infer.onnx", "page.png"), PAGE)

    def test_words_are_heard(self):
        recordings = [MODELS / f"audio/{name}.wav" for name in ("yes_1000ms", "silence_1000ms", "speech")]
        said = self.run_example("hear_words", need(MODELS / "tflite/kws_ref_model_float32.tflite"), *recordings)
        self.assertEqual([re.search(r"\.wav: (.+) \(", line)[1] for line in said], ["yes", "(silence)", "(another word)"])

    def test_sentences_are_compared(self):
        said = self.run_example("embed_sentences", need(MINILM), VOCABULARY, "Where does my pet sleep?", "Stocks fell on Monday.",
                                "The cat naps on the sofa.", "A compiler translates programs.")
        self.assertEqual(said[0][5:], "The cat naps on the sofa.")
        self.assertGreater(float(said[0][:4]), 0.4)
        self.assertLess(float(said[1].split()[0]), 0.2)

    def test_the_front_page_embeds_a_sentence(self):
        self.link("all-MiniLM-L6-v2.onnx", MINILM)
        self.link("vocab.txt", VOCABULARY)
        code = self.front_page("python") + "print(embedding.shape)"
        self.assertEqual(self.run_here(self.python, "-c", code), "(1, 384)\n")

    def test_the_front_page_sees_a_cat(self):
        self.link("mobilenet_v1.tflite", MOBILENET)
        self.link("names.txt", IMAGENET)
        Image.open(CAT).save(self.folder / "cat.jpg", quality=95)
        commands = self.front_page("sh")
        self.assertIn(" --time 10m ", commands)
        said = self.run_here("sh", "-euc", commands.replace(" --time 10m ", " --trials 4 "))
        self.assertRegex(said, r"\n *0\.[3-9]\d* +286 +Egyptian cat\n")

    def test_a_photo_is_classified_in_cpp(self):
        self.run_here(os.environ["ATTUNE"], "compile", need(MOBILENET), "-o", "photo.atn")
        Image.open(CAT).save(self.folder / "photo.ppm")
        self.assertRegex(self.run_here(os.environ["CLASSIFY_PHOTO"], "photo.atn", IMAGENET, "photo.ppm"), r"^Egyptian cat \(0\.\d\d\)$")

    def test_examples_are_short(self):
        for path in [*EXAMPLES.glob("*.py"), EXAMPLES / "classify_photo.cc"]:
            if path.name != "job_program.py":
                self.assertLessEqual(len(path.read_text().splitlines()), 60, path.name)


if __name__ == "__main__":
    need(MODELS)
    unittest.main(argv=sys.argv[:1])
