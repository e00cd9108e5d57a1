#!/usr/bin/env python3
"""A trained classifier names what is in the photos."""
import pathlib
import tempfile

from checks import MODELS, end_to_end, need
from common.program import attune, attune_json

PHOTOS = {
    "grace_hopper.bmp": "bow tie, bow-tie, bowtie",
    "cat.bmp": "Egyptian cat",
    "parrot.jpg": "macaw",
    "sunflower.bmp": "daisy",
    "hot_dog.jpg": "hotdog, hot dog, red hot",
}


def check():
    model = need(MODELS / "onnx/SqueezeNet_fp16.onnx")
    with tempfile.TemporaryDirectory() as folder:
        artifact, labels = pathlib.Path(folder) / "model.atn", need(MODELS / "labels/imagenet_labels.txt")
        attune("compile", model, "-o", artifact)
        wrong = []
        for photo, expected in PHOTOS.items():
            result = attune_json("run", artifact, "--input", need(MODELS / "images" / photo), "--preprocess", "none",
                                 "--image-order", "bgr", "--labels", labels, "--top", 1)
            best = result["outputs"][0]["top"][0]
            print(f"{photo}: {best['label']} ({best['value']:.3f})")
            if best["label"] != expected:
                wrong.append(photo)
    assert not wrong, f"named wrongly: {', '.join(wrong)}"


end_to_end(check)
