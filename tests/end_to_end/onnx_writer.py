"""Writes small ONNX models in the format of protobuf: fields with a number and a type, one after the other."""
import struct

import numpy

DTYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11}


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def data(field, value):
    """A field of text, bytes, or a message."""
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    head = data(1, name)
    if isinstance(value, float):
        return head + varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    if isinstance(value, int):
        return head + number(3, value) + number(20, 2)
    if isinstance(value, str):
        return head + data(4, value) + number(20, 3)
    if value and isinstance(value[0], str):
        return head + b"".join(data(9, element) for element in value) + number(20, 8)
    if value and isinstance(value[0], float):
        return head + b"".join(varint(7 << 3 | 5) + struct.pack("<f", element) for element in value) + number(20, 6)
    return head + b"".join(number(8, element) for element in value) + number(20, 7)


def value_info(name, dtype, shape):
    """Sizes are numbers, or names of dimensions that are open."""
    dims = b"".join(data(1, data(2, size) if isinstance(size, str) else number(1, size)) for size in shape)
    return data(1, name) + data(2, data(1, number(1, DTYPES[dtype]) + data(2, dims)))


class Model:
    """A graph under construction. Values are given by their names."""

    def __init__(self, opset=20):
        self.parts, self.count, self.opset = [], 0, opset
        self.random = numpy.random.default_rng(0)

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def input(self, *shape, dtype="float32"):
        name = self.name()
        self.parts.append(data(11, value_info(name, dtype, shape)))
        return name

    def constant(self, array):
        name = self.name()
        array = numpy.asarray(array)
        dims = b"".join(number(1, size) for size in array.shape)
        head = dims + number(2, DTYPES[str(array.dtype)]) + data(8, name)
        self.parts.append(data(5, head + data(9, array.tobytes())))
        return name

    def weights(self, *shape, dtype="float32"):
        if dtype.startswith("float"):
            return self.constant(self.random.standard_normal(shape).astype(dtype))
        return self.constant(self.random.integers(0, 100, shape).astype(dtype))

    def node(self, op, *inputs, **attributes):
        """Adds a node and returns its output. An input that is None is left out."""
        return self.node_of(op, 1, *inputs, **attributes)[0]

    def node_of(self, op, count, *inputs, **attributes):
        """Adds a node and returns its `count` outputs."""
        names = [self.name() for _ in range(count)]
        body = b"".join(data(1, value or "") for value in inputs) + b"".join(data(2, name) for name in names)
        body += data(3, f"{op}_{names[0]}") + data(4, op)
        body += b"".join(data(5, attribute(key, value)) for key, value in attributes.items())
        self.parts.append(data(1, body))
        return names

    def write(self, path, outputs, dtype="float32", shape=None, metadata=None):
        """Writes the model with one output or a list of them, of any shape unless one is given. metadata: texts by
        their names."""
        graph = b"".join(self.parts) + data(2, "small")
        for output in [outputs] if isinstance(outputs, str) else outputs:
            if shape is None:
                graph += data(12, data(1, output) + data(2, data(1, number(1, DTYPES[dtype]))))
            else:
                graph += data(12, value_info(output, dtype, shape))
        texts = b"".join(data(14, data(1, key) + data(2, text)) for key, text in (metadata or {}).items())
        path.write_bytes(number(1, 9) + data(2, "onnx_writer") + data(7, graph) + data(8, number(2, self.opset)) + texts)
