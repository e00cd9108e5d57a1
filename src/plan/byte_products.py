#!/usr/bin/env python3
"""How many of a network's weights would let AVX2 multiply bytes exactly (vpmaddubsw), instead of pairs of i16.

The instruction adds the products of two neighbours, of 8 bits without a sign and 8 with, in 16 bits and saturates.
Nothing does where 255 times the sum of both weights' magnitudes is at most 32767; and two results can be added in 16 bits
before they are widened where that holds of four weights. A kernel computes 8 channels at once, so all of them count.

    build/bench/python/bin/python src/plan/byte_products.py MODEL.onnx ...
"""
import sys

import numpy
import onnx

MOST = 32767 // 255
CHANNELS = 8


def weights(model):
    """Products of bytes, as [channels, terms]."""
    for tensor in model.graph.initializer:
        if tensor.data_type not in (onnx.TensorProto.UINT8, onnx.TensorProto.INT8) or len(tensor.dims) < 2:
            continue
        array = onnx.numpy_helper.to_array(tensor).astype(numpy.int32)
        if tensor.data_type == onnx.TensorProto.UINT8:
            array -= 128
        matrix = array.T if array.ndim == 2 else numpy.moveaxis(array, 1, -1).reshape(array.shape[0], -1)
        channels, terms = (size // step * step for size, step in zip(matrix.shape, (CHANNELS, 4)))
        if channels and terms:
            yield numpy.abs(matrix[:channels, :terms])


def main():
    for path in sys.argv[1:]:
        blocks = pairs = fours = 0
        for matrix in weights(onnx.load(path)):
            of_blocks = matrix.reshape(-1, CHANNELS, matrix.shape[1])
            blocks += len(of_blocks)
            pairs += numpy.sum((of_blocks[..., 0::2] + of_blocks[..., 1::2]).max(axis=(1, 2)) <= MOST)
            fours += numpy.sum(of_blocks.reshape(*of_blocks.shape[:2], -1, 4).sum(-1).max(axis=(1, 2)) <= MOST)
        print(f"{path}: of {blocks} blocks, pairs {pairs / max(blocks, 1):.1%}, fours {fours / max(blocks, 1):.1%}")


if __name__ == "__main__":
    main()
