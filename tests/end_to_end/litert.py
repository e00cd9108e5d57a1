"""Runs TensorFlow Lite models with LiteRT's reference kernels, and tells how to compare their outputs."""
import numpy

from comparing import Expected
from peers import PeerFailed, isolated

# Larger inputs than this (elements of all inputs together) are for machines with much memory.
MOST_ELEMENTS = 1 << 24


def run_litert(path, make_input, seconds=600):
    """Runs a .tflite model with LiteRT's reference kernels, on one thread. `make_input` gets what LiteRT says about an
    input and makes its value. Returns the inputs by name, and a list of Expected. Raises PeerFailed."""
    return isolated(litert_outputs, path, make_input, seconds=seconds)


def litert_outputs(path, make_input):
    interpreter = open_litert(path)
    details = interpreter.get_input_details()
    if sum(int(numpy.prod(detail["shape"])) for detail in details) > MOST_ELEMENTS:
        raise PeerFailed("its inputs are too large for a test")
    inputs = {}
    for name, detail in zip(input_names(details), details):
        inputs[name] = make_input(detail)
        interpreter.set_tensor(detail["index"], inputs[name])
    interpreter.invoke()
    rules = Rules(interpreter)
    outputs = []
    for detail in interpreter.get_output_details():
        rule, step = rules.of(detail)
        outputs.append(Expected(detail["name"], numpy.array(interpreter.get_tensor(detail["index"])), rule, step))
    return inputs, outputs


def open_litert(path):
    """Opens the model with reference kernels; if it has an operator without one, with optimized kernels."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    def open_with(kernels):
        interpreter = Interpreter(str(path), num_threads=1, experimental_op_resolver_type=kernels)
        interpreter.allocate_tensors()
        return interpreter

    try:
        return open_with(OpResolverType.BUILTIN_REF)
    except (ValueError, RuntimeError) as error:
        if "unresolved custom op" not in str(error):
            raise
    return open_with(OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)


def input_names(details):
    """The names that this program gives the inputs: those of their tensors; an input without a name, or with one that
    is taken, gets a number."""
    names = []
    for index, detail in enumerate(details):
        taken = not detail["name"] or detail["name"] in names
        names.append(f"input{index}" if taken else detail["name"])
    return names


class Rules:
    """How the outputs of a LiteRT model are compared, which depends on the operators that compute them."""

    def __init__(self, interpreter):
        self.tensors = {detail["index"]: detail for detail in interpreter.get_tensor_details()}
        self.makers = {}  # output: its operator's name and inputs
        self.quantized = False
        nodes = interpreter._interpreter  # the public method fails if a tensor has no type
        for node in range(nodes.NumNodes()):
            name, inputs, outputs = nodes.NodeName(node), nodes.NodeInputs(node), nodes.NodeOutputs(node)
            for index in outputs:
                self.makers[int(index)] = (name, inputs)
            # A tensor that is dequantized before use is computed with in floats.
            if name != "DEQUANTIZE":
                self.quantized |= any(self.is_quantized(index) for index in (*inputs, *outputs))

    def scales(self, index):
        """The scales of an integer tensor if it is quantized; otherwise empty."""
        detail = self.tensors.get(int(index))
        if detail is None or numpy.dtype(detail["dtype"]).kind not in "iu":
            return numpy.array([])
        return numpy.asarray(detail["quantization_parameters"]["scales"])

    def is_quantized(self, index):
        """Also finds scales per block, which scales() does not return."""
        detail = self.tensors.get(int(index))
        return self.scales(index).size > 0 or (detail is not None
                                               and bool(detail["quantization_parameters"].get("block_size")))

    def of(self, detail):
        """The rule and the step for an output."""
        index, kind = int(detail["index"]), numpy.dtype(detail["dtype"]).kind
        if kind == "f":
            name, inputs = self.makers.get(index, ("", ()))
            if name == "TFLite_Detection_PostProcess":
                return "detections", 1.0
            if name == "DEQUANTIZE" and self.scales(inputs[0]).size == 1:
                return "steps", float(self.scales(inputs[0])[0])
            return ("cosine" if self.quantized else "float"), 1.0
        if self.scales(index).size > 0:
            return "steps", 1.0
        return ("mostly" if self.quantized and kind != "b" else "equal"), 1.0
