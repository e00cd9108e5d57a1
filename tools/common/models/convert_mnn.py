"""python -m common.models.convert_mnn MODEL.onnx|MODEL.tflite FILE.mnn    converts a model for MNN

MNN's own command, mnnconvert, does the same, but then installs packages and reports its use to a server.
"""
import sys

import _tools  # MNN's


def main():
    source, target = sys.argv[1:]
    form = source.rsplit(".", 1)[1].upper()
    _tools.mnnconvert(["mnnconvert", "-f", form, "--modelFile", source, "--MNNModel", target, "--bizCode", "attune"])


main()
