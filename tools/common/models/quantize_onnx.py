"""python -m common.models.quantize_onnx CASE MODEL.onnx FILE.onnx    writes a network of torchvision in 8-bit integers

This is how people do it with ONNX Runtime: activations are u8 and weights i8 with a scale per channel, as pairs of
QuantizeLinear and DequantizeLinear. Ranges come from noise, which is good enough for random weights.
"""
import pathlib
import sys

import numpy
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from common.models.cases import case_named

SAMPLES = 4


class Noise(CalibrationDataReader):
    """The same noise samples in each call."""

    def __init__(self, shape):
        random = numpy.random.default_rng(0)
        self._feeds = iter([{"input": random.standard_normal(shape, dtype=numpy.float32)} for _ in range(SAMPLES)])

    def get_next(self):
        return next(self._feeds, None)


def main():
    name, source, target = sys.argv[1:]
    prepared = pathlib.Path(target).with_name("prepared.onnx")
    quant_pre_process(source, str(prepared))
    quantize_static(str(prepared), target, Noise(case_named(name).shape), quant_format=QuantFormat.QDQ,
                    per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)


if __name__ == "__main__":
    main()
