"""python -m bench.wide.export NAME    writes a network of the wide set, its inputs and torch's outputs

The process ends itself if a network takes too much memory or time.
"""
import os
import pathlib
import resource
import signal
import sys
import tempfile
import traceback

import numpy
import torch

from bench.wide.networks import FOLDER, load_maker, named
from bench.wide.table import NETWORKS
from common.models.export_torch import shake

OPSET = 17  # of the exporter that traces
DYNAMO_OPSET = 18  # the least that the other one writes
MEMORY_LIMIT = 12 << 30  # bytes
TIME_LIMIT_S = 400


class Flat(torch.nn.Module):
    """A module whose outputs are tensors alone, in a tuple."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        return tuple(tensors_of(self.module(*inputs)))


def tensors_of(value):
    """The tensors in tuples, lists and dictionaries, in their order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (tuple, list)):
        return []
    return [tensor for part in value for tensor in tensors_of(part)]


def enliven(module):
    """Gives values to parameters that a fresh network has at zero or one, so that each makes a difference that shows in
    the outputs."""
    for parameter in shake(module).parameters():
        if not parameter.abs().max() > 1e-4:
            parameter.normal_(0, 0.02)
        elif parameter.dim() == 1 and (parameter == 1).all():
            parameter.uniform_(0.5, 1.5)
    return module.eval()


def check(outputs):
    """Raises ValueError of outputs by which nothing could be compared."""
    for index, output in enumerate(outputs):
        values = output.double()
        if not values.isfinite().all():
            raise ValueError(f"output {index} is not finite")
        if output.numel() > 1 and values.std() == 0:
            raise ValueError(f"output {index} is the same everywhere")
    if not outputs:
        raise ValueError("there is no output")


def write_model(network, module, inputs, outputs, path):
    options = {"input_names": [f"input{i}" for i in range(len(inputs))],
               "output_names": [f"output{i}" for i in range(len(outputs))]}
    if network.dynamo:
        torch.onnx.export(module, inputs, str(path), dynamo=True, external_data=False, opset_version=DYNAMO_OPSET,
                          verbose=False, **options)
    else:
        torch.onnx.export(module, inputs, str(path), dynamo=False, opset_version=OPSET, **options)
    if network.weights:
        quantize(path, network.weights)


def quantize(path, weights):
    """In place. Activations become integers in the network, by ranges that it finds itself."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    source = path.with_suffix(".float.onnx")
    path.rename(source)
    quantize_dynamic(str(source), str(path), weight_type={"u8": QuantType.QUInt8, "s8": QuantType.QInt8}[weights])


def write_tensors(folder, name, tensors):
    for index, tensor in enumerate(tensors):
        numpy.save(folder / f"{name}{index}.npy", tensor.contiguous().numpy())


def export(network):
    """Writes all files of the network."""
    # The fused attention of inference cannot be traced.
    torch.backends.mha.set_fastpath_enabled(False)
    torch.manual_seed(0)
    with torch.no_grad(), tempfile.TemporaryDirectory(dir=FOLDER) as name:
        scratch = pathlib.Path(name)
        made, inputs = load_maker(network)(**network.arguments)
        module = Flat(enliven(made)).eval()
        outputs = module(*inputs)
        check(outputs)
        write_model(network, module, inputs, outputs, scratch / "model.onnx")
        network.tensors.mkdir(exist_ok=True)
        for old in network.tensors.glob("*.npy"):
            old.unlink()
        write_tensors(network.tensors, "input", inputs)
        write_tensors(network.tensors, "output", outputs)
        os.replace(scratch / "model.onnx", network.model)


def main():
    network = named(sys.argv[1], NETWORKS)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT))
    signal.alarm(TIME_LIMIT_S)
    try:
        export(network)
    except Exception as error:  # whatever a framework raises is the reason
        traceback.print_exc()
        sys.exit(f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), '')}")


if __name__ == "__main__":
    main()
