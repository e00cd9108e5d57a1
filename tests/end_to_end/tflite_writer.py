"""Writes TensorFlow Lite models, with the classes for their tables that LiteRT brings along."""
import flatbuffers
import numpy
from ai_edge_litert import schema_py_generated as schema

TYPES = {"float32": schema.TensorType.FLOAT32, "int32": schema.TensorType.INT32, "uint8": schema.TensorType.UINT8,
         "int64": schema.TensorType.INT64, "bool": schema.TensorType.BOOL, "int16": schema.TensorType.INT16,
         "int8": schema.TensorType.INT8, "int4": schema.TensorType.INT4}


def packed(values):
    """Integers of four bits, two to a byte, the first in the lower half."""
    nibbles = numpy.append(values.ravel() & 15, [0] * (values.size % 2)).astype(numpy.uint8)
    return nibbles[0::2] | nibbles[1::2] << 4


class Writer:
    """A model with one subgraph. Tensors and operators are added one by one; bytes() is the file."""

    def __init__(self):
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.operatorCodes, self.model.buffers = [], [schema.BufferT()]
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators = [], []
        self.graph.inputs, self.graph.outputs = [], []
        self.model.subgraphs = [self.graph]

    def tensor(self, name, shape, dtype, data=None, scale=None, zero=0, axis=0, variable=False):
        """Adds a tensor and returns its index. `data` makes it a constant; `scale` and `zero` may be lists, which are
        along `axis`."""
        tensor = schema.TensorT()
        tensor.name, tensor.shape, tensor.type, tensor.isVariable = name, list(shape), TYPES[dtype], variable
        if data is not None:
            tensor.buffer = len(self.model.buffers)
            buffer = schema.BufferT()
            buffer.data = numpy.frombuffer((packed(data) if dtype == "int4" else data.astype(dtype)).tobytes(),
                                           dtype=numpy.uint8)
            self.model.buffers.append(buffer)
        if scale is not None:
            quantization = schema.QuantizationParametersT()
            quantization.scale = numpy.atleast_1d(scale).astype(numpy.float32)
            quantization.zeroPoint = numpy.broadcast_to(numpy.atleast_1d(zero), quantization.scale.shape)
            quantization.zeroPoint = quantization.zeroPoint.astype(numpy.int64)
            quantization.quantizedDimension = axis
            tensor.quantization = quantization
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def operator(self, name, inputs, outputs, options="", version=1, intermediates=(), **fields):
        """Adds an operator; `options` is the name of its table of options and `fields` what is set in it."""
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, name)
        code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), version
        operator = schema.OperatorT()
        operator.opcodeIndex = len(self.model.operatorCodes)
        operator.inputs, operator.outputs = list(inputs), list(outputs)
        operator.intermediates = list(intermediates)
        if options:
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            operator.builtinOptions = getattr(schema, options + "T")()
            for field, value in fields.items():
                if not hasattr(operator.builtinOptions, field):
                    raise ValueError(f"{options} has no {field}")
                setattr(operator.builtinOptions, field, value)
        self.model.operatorCodes.append(code)
        self.graph.operators.append(operator)

    def bytes(self):
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())
