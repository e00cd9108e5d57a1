"""Runs onnxruntime on cases that `graph_fuzz --write` wrote, and compares.

It is a process of its own, since onnxruntime may crash. python onnxruntime_worker.py [--without OPTIMIZER] FOLDER...
prints the name of each folder before it begins with it and a line of JSON after.
"""
import ctypes
import json
import os
import re
import sys

import numpy
import onnxruntime

BF16 = 16  # in onnx.TensorProto
LEVELS = {"plain": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
          "optimized": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL}
# Not one optimizer but all those that compute dequantized and quantized numbers in integers.
INTEGERS = "integers"
# The optimizers that may act on random graphs; one of them explains a difference that only the optimized graph shows.
OPTIMIZERS = [INTEGERS] + """ConstantFolding TransposeOptimizer NchwcTransformer NhwcTransformer QDQSelectorActionTransformer
    QDQPropagationTransformer QDQS8ToU8Transformer QDQFinalCleanupTransformer DoubleQDQPairsRemover
    Avx2WeightS8ToU8Transformer ConvAddActivationFusion ConvActivationFusion ConvAddFusion ConvBNFusion ConvMulFusion
    GemmActivationFusion GemmSumFusion GemmTransposeFusion MatMulAddFusion MatMulScaleFusion MatmulTransposeFusion
    MatMul_BatchNormalization_Fusion MatMulActivationFusion MatMulIntegerToFloatFusion DynamicQuantizeMatMulFusion
    GeluFusionL1 GeluFusionL2 BiasGeluFusion FastGeluFusion QuickGeluFusion LayerNormFusionL1 LayerNormFusionL2
    SimplifiedLayerNormFusion SkipLayerNormFusion AttentionFusion ReshapeFusion BiasSoftmaxFusion DivMulFusion
    ExpandElimination NoopElimination EliminateIdentity EliminateSlice UnsqueezeElimination FuseReluClip Pad_Fusion
    NotWhereFusion CastElimination CastChainElimination RemoveDuplicateCastTransformer PreShapeNodeElimination
    ConstantSharing CommonSubexpressionElimination GatherToSliceFusion SliceConcatToSpaceToDepthFusion""".split()


def from_bf16(bits):
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)


def to_bf16(values):
    return (values.view(numpy.uint32) >> 16).astype(numpy.uint16)  # exact, since the values are bf16 numbers


def as_value(array, kind):
    if kind == "tensor(bfloat16)":
        bits = to_bf16(numpy.ascontiguousarray(array))
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, BF16)
    return onnxruntime.OrtValue.ortvalue_from_numpy(array)


def as_array(value):
    if value.data_type() != "tensor(bfloat16)":
        return value.numpy()
    shape = value.shape()
    count = int(numpy.prod(shape, dtype=numpy.int64))
    bits = numpy.zeros(count, numpy.uint16)
    if count > 0:
        ctypes.memmove(bits.ctypes.data, value.data_ptr(), 2 * count)
    return from_bf16(bits).reshape(shape)


class Refused(Exception):
    """onnxruntime refuses the model; the text is its reason, without names and numbers."""


def refusal(error):
    text = str(error).split("\n")[0]
    text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", text)
    text = re.sub(r"/\S+?/(\w+\.(cc|h)):\d+", r"\1", text)
    text = re.sub(r"[Nn]ode ?(\(\S*\)|[Nn]ame:? ?'[^']*')|\(node \S*\)|\bName:'[^']*'", "node", text)
    text = re.sub(r"\b(v\d+|y\d+|x\d+|c\d+|n\d+)\w*", "_", text)
    text = re.sub(r"0x[0-9a-f]+|-?\d+(,-?\d+)*", "#", text)
    return text[:160]


def run(model, folder, level, disabled=()):
    """The outputs by name."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = LEVELS[level]
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if INTEGERS in disabled:
        options.add_session_config_entry("session.disable_quant_qdq", "1")
    try:
        session = onnxruntime.InferenceSession(os.path.join(folder, model), options, ["CPUExecutionProvider"],
                                               disabled_optimizers=list(disabled))
        inputs = {i.name: as_value(numpy.load(os.path.join(folder, i.name + ".npy")), i.type)
                  for i in session.get_inputs()}
        names = [o.name for o in session.get_outputs()]
        values = session.run_with_ort_values(names, inputs)
    except Exception as error:  # onnxruntime raises many kinds
        raise Refused(refusal(error)) from error
    return {name: as_array(value) for name, value in zip(names, values)}


def difference(actual, expected, bound):
    """None, or how the arrays differ beyond the bound: a dictionary for JSON."""
    if bound.shape != expected.shape or numpy.all(numpy.isinf(bound)) and bound.size > 0:
        return None  # undecided
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return {"what": f"{actual.dtype}{list(actual.shape)}, expected {expected.dtype}{list(expected.shape)}"}
    with numpy.errstate(all="ignore"):
        a, e = actual.astype(numpy.float64), expected.astype(numpy.float64)
        same = (actual == expected) | (numpy.isnan(a) & numpy.isnan(e)) | numpy.isinf(bound)
        wrong = ~(same | (numpy.abs(a - e) <= bound))
    if not wrong.any():
        return None
    places = numpy.flatnonzero(wrong)
    place = places[0]
    return {"what": f"{places.size} of {wrong.size}, the first [{place}]: {actual.flat[place]!s}, expected "
                    f"{expected.flat[place]!s} ± {bound.flat[place]:.3g}",
            "actual": float(a.flat[place]), "expected": float(e.flat[place]),
            "first": int(place), "size": wrong.size, "type": str(actual.dtype),
            "nonfinite": bool(~numpy.isfinite(a[wrong]).all() | ~numpy.isfinite(e[wrong]).all())}


def load(folder, kind, name):
    return numpy.load(os.path.join(folder, f"{kind}_{name}.npy"))


def compare(folder, outputs):
    """The differences by output."""
    found = {}
    for name, actual in outputs.items():
        apart = difference(actual, load(folder, "expected", name), load(folder, "bound", name))
        if apart is not None:
            found[name] = apart
    return found


def coverage(case):
    makers = {name: node["op"] for node in case["nodes"] for name in node["outputs"]}
    pairs = {f"{makers[name]} {node['op']}" for node in case["nodes"] for name in node["operands"] if name in makers}
    return {"operators": sorted({node["op"] for node in case["nodes"]}), "pairs": sorted(pairs)}


def check(folder, case, disabled=()):
    """Compares a case of model.onnx."""
    attune = {name: load(folder, "actual", name) for name in case["outputs"]}
    result = {**coverage(case), "attune": compare(folder, attune), "refused": {}, "differs": {}}
    for level in LEVELS:
        try:
            apart = compare(folder, run("model.onnx", folder, level, disabled))
        except Refused as refused:
            result["refused"][level] = str(refused)
            continue
        if apart:
            result["differs"][level] = apart
    return result


def culprit_optimizer(model_folder, wrong):
    for name in OPTIMIZERS:
        try:
            apart = compare(model_folder, run("model.onnx", model_folder, "optimized", [name]))
        except Refused:
            continue
        if not wrong & set(apart):
            return name
    return None


def find_node(folder, case):
    """For a case of all.onnx: the first node whose value differs, and how. None if no node does."""
    apart = compare(folder, run("all.onnx", folder, "plain"))
    for node in case["nodes"]:
        for name in node["outputs"]:
            if name in apart:
                return {**apart[name], **node, "value": name, "operand": operand(folder, node, apart[name])}
    return None


def operand(folder, node, apart):
    """The number in the first operand from which an elementwise operator computed the first wrong element."""
    for path in (f"expected_{node['operands'][0]}.npy", f"{node['operands'][0]}.npy"):
        if os.path.exists(os.path.join(folder, path)):
            array = numpy.load(os.path.join(folder, path))
            return float(array.flat[apart["first"]]) if array.size == apart.get("size") else None
    return None


def investigate(folder, case):
    """Finds the cause of a disagreement, in a case of all.onnx; the case of model.onnx is in FOLDER/model."""
    plain_folder = os.path.join(folder, "model")
    with open(os.path.join(plain_folder, "case.json")) as file:
        model = json.load(file)
    # If an output is a node's value, take its bounds from all.onnx, which are wider.
    for name, value in model["outputs"].items():
        if value in case["outputs"]:
            for kind in ("expected", "bound"):
                numpy.save(os.path.join(plain_folder, f"{kind}_{name}.npy"), load(folder, kind, value))
    result = check(plain_folder, model)
    if not result["differs"]:
        return result
    try:
        result["node"] = find_node(folder, case)
    except Refused as refused:
        result["node"] = None
        result["refused"]["all"] = str(refused)
    if result["node"] is None and "plain" not in result["differs"]:
        result["optimizer"] = culprit_optimizer(plain_folder, set(result["differs"]["optimized"]))
    return result


def main():
    disabled, folders = ([sys.argv[2]], sys.argv[3:]) if sys.argv[1] == "--without" else ([], sys.argv[1:])
    for folder in folders:
        print(folder, flush=True)
        with open(os.path.join(folder, "case.json")) as file:
            case = json.load(file)
        if not disabled and os.path.exists(os.path.join(folder, "all.onnx")):
            result = investigate(folder, case)
        else:
            result = check(folder, case, disabled)
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
