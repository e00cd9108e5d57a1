"""The engines: each function loads a model and returns a function from an input to the list of its outputs, as floats.

Each network has one input. Each function imports its engine itself: a measurement has a process of its own and needs
only one engine.
"""
import numpy

from common.runtime import Session


def open_attune(artifact, threads):
    session = Session(artifact, threads)
    return lambda array: session.run(array)


def open_onnxruntime(path, threads):
    from common.program import onnxruntime_session

    session = onnxruntime_session(path, threads)
    name = session.get_inputs()[0].name
    return lambda array: session.run(None, {name: array})


def open_litert(path, threads):
    """If a model's inputs or outputs are integers, they are quantized and dequantized by the model's own parameters."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(str(path), num_threads=threads)
    interpreter.allocate_tensors()
    taken, made = interpreter.get_input_details()[0], interpreter.get_output_details()

    def run(array):
        interpreter.set_tensor(taken["index"], quantize(array, taken))
        interpreter.invoke()
        return [dequantize(interpreter.get_tensor(detail["index"]), detail) for detail in made]

    return run


def quantize(values, detail):
    """Converts floats to the type of the tensor that `detail`, from LiteRT, describes."""
    dtype, (scale, zero) = numpy.dtype(detail["dtype"]), detail["quantization"]
    if dtype.kind == "f" or scale == 0:
        return values.astype(dtype)
    limits = numpy.iinfo(dtype)
    return numpy.clip(numpy.rint(values / scale + zero), limits.min, limits.max).astype(dtype)


def dequantize(values, detail):
    """Converts the other way."""
    scale, zero = detail["quantization"]
    if values.dtype.kind == "f" or scale == 0:
        return values.copy()
    return ((values.astype(numpy.float64) - zero) * scale).astype(numpy.float32)
