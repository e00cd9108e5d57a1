"""The engines that people would choose instead of Attune, each as a function that loads a model and returns a runner.

A runner computes one inference on the inputs that it was given at the start, in the model's order, and returns all
outputs, or only the first if the engine is used only for networks with one output. The functions run in processes of
their own (see worker.py), and only they import the engines.
"""
from dataclasses import dataclass
from typing import Callable

import numpy


def open_onnxruntime(path, arrays, threads, bf16):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    feed = {declared.name: array for declared, array in zip(session.get_inputs(), arrays, strict=True)}
    return lambda: session.run(None, feed)


def open_openvino(path, arrays, threads, bf16):
    import openvino

    network = openvino.Core().compile_model(str(path), "CPU", {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": threads,
        # By default it uses bfloat16 if the processor has it.
        "INFERENCE_PRECISION_HINT": "bf16" if bf16 else "f32",
    })
    request = network.create_infer_request()
    feed = dict(enumerate(arrays))
    # By default it copies both.
    return lambda: list(request.infer(feed, share_inputs=True, share_outputs=True).to_tuple())


def open_ncnn(path, arrays, threads, bf16):
    import ncnn

    net = ncnn.Net()
    net.opt.num_threads = threads
    net.opt.use_vulkan_compute = False
    net.opt.use_bf16_storage = bf16
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
    if net.load_param(str(path)) != 0 or net.load_model(str(path.with_suffix(".bin"))) != 0:
        raise RuntimeError(f"ncnn cannot load {path.name}")
    # ncnn's tensors have no batch, and its integers have 32 bits.
    image = arrays[0][0]
    image = image.astype(numpy.int32) if image.dtype == numpy.int64 else image
    tensor = ncnn.Mat(image).clone()
    first, last = net.input_names()[0], net.output_names()[0]

    def run():
        extractor = net.create_extractor()
        extractor.input(first, tensor)
        status, output = extractor.extract(last)
        if status != 0:
            raise RuntimeError(f"ncnn fails with status {status}")
        return [numpy.array(output)]

    return run


def open_mnn(path, arrays, threads, bf16):
    import MNN.expr
    import MNN.nn

    runtime = MNN.nn.create_runtime_manager(
        ({"backend": "CPU", "numThread": threads, "precision": "low" if bf16 else "high"},))
    net = MNN.nn.load_module_from_file(str(path), [], [], runtime_manager=runtime)
    declared, array = net.get_info()["inputs"][0], arrays[0]
    tensor = MNN.expr.const(array.ravel().tolist(), list(array.shape), declared.data_format, declared.dtype)
    if array.ndim == 4 and declared.data_format == MNN.expr.NCHW:
        tensor = MNN.expr.convert(tensor, MNN.expr.NC4HW4)
    return lambda: [net.forward([tensor])[0].read()]


def open_litert(path, arrays, threads, bf16):
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(str(path), num_threads=threads)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], arrays[0])
    output = interpreter.get_output_details()[0]["index"]

    def run():
        interpreter.invoke()
        return [interpreter.get_tensor(output)]

    return run


@dataclass(frozen=True)
class Peer:
    """An engine that Attune is compared with."""
    name: str  # on the command line and in results.json
    title: str  # for people
    package: str  # on PyPI
    module: str  # that Python imports
    formats: tuple[str, ...]  # of model files, the preferred one first
    open: Callable  # (path, arrays, threads, bf16) -> runner


PEERS = {peer.name: peer for peer in (
    Peer("onnxruntime", "ONNX Runtime", "onnxruntime", "onnxruntime", ("onnx",), open_onnxruntime),
    Peer("openvino", "OpenVINO", "openvino", "openvino", ("onnx", "tflite"), open_openvino),
    Peer("ncnn", "ncnn", "ncnn", "ncnn", ("ncnn",), open_ncnn),
    Peer("mnn", "MNN", "MNN", "MNN", ("mnn",), open_mnn),
    Peer("litert", "LiteRT", "ai-edge-litert", "ai_edge_litert", ("tflite",), open_litert),
)}
TITLES = {"attune": "Attune", **{peer.name: peer.title for peer in PEERS.values()}}
