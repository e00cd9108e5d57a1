#!/usr/bin/env python3
"""check_pytorch.py [NAME ...]    PyTorch networks give what PyTorch gives

Exports networks of torchvision, and a small BERT of transformers, with random weights to .pt2: as torch.export.export
leaves them, and after run_decompositions(). Prints a line for each of the two, for all networks or those whose names
contain a NAME, and exits with 1 if one is wrong. PyTorch comes with the set-up of the benchmarks:
build/bench/python/bin/python tests/end_to_end/check_pytorch.py
"""
import pathlib
import tempfile

import numpy

from comparing import Expected
from peers import PeerFailed, Report, is_asked_for, isolated, noise, run_attune

SECONDS = 600  # for what PyTorch does with one network

# From torchvision, with the side of the image that each takes.
NETWORKS = {"alexnet": 224, "vgg11": 224, "resnet18": 224, "squeezenet1_1": 224, "densenet121": 224,
            "inception_v3": 299, "googlenet": 224, "shufflenet_v2_x1_0": 224, "mobilenet_v2": 224,
            "mobilenet_v3_small": 224, "efficientnet_b0": 224, "regnet_y_400mf": 224, "convnext_tiny": 224,
            "vit_b_16": 224, "swin_t": 224}

BERT = "bert"
LAYERS, TOKENS, PADDING = 2, 32, 8  # some of the tokens are padding

# The two programs of each network.
FILES = {"as exported": "exported.pt2", "decomposed": "decomposed.pt2"}


# ---- PyTorch, in a process of its own

def build_torchvision(name):
    """A network and its input."""
    import torchvision.models

    inceptions = ("inception_v3", "googlenet")
    options = {"init_weights": False} if name in inceptions else {}  # their own initialization takes minutes
    module = getattr(torchvision.models, name)(weights=None, **options).eval()
    side = NETWORKS[name]
    shake(module)
    # In these, channels hardly vary over noise, so that normalizing them makes rounding errors large.
    if name not in inceptions:
        normalize(module, (4, 3, side, side))
    return module, (noise(1, 3, side, side),)


def build_bert(layers=LAYERS):
    """The network and its inputs: the tokens, and a mask that tells which of them count."""
    from transformers import BertConfig, BertModel

    module = BertModel(BertConfig(num_hidden_layers=layers, return_dict=False)).eval()
    shake(module)
    tokens = numpy.random.default_rng(0).integers(0, module.config.vocab_size, (1, TOKENS))
    return module, (tokens, (numpy.arange(TOKENS) < TOKENS - PADDING).astype(numpy.int64)[None])


def shake(module):
    """Randomizes parameters whose elements are all equal in a fresh network, mostly 0 or 1: a test would not notice if
    they were left out."""
    import torch

    for parameter in module.parameters():
        if parameter.min() == parameter.max():
            parameter.add_(torch.empty_like(parameter).uniform_(-0.1, 0.1))


def normalize(module, shape):
    """Normalizes by the statistics of noise: with those of a fresh network, little of the input reaches the output."""
    import torch

    for layer in module.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = 1.0
            layer.train()
    module(torch.randn(shape))
    module.eval()


def export(name, folder):
    """Writes both programs of a network, and returns its inputs by name and a list of its outputs."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    with torch.no_grad():
        module, inputs = build_bert() if name == BERT else build_torchvision(name)
        arguments = tuple(torch.from_numpy(values) for values in inputs)
        program = torch.export.export(module, arguments)
        torch.export.save(program, folder / FILES["as exported"])
        torch.export.save(program.run_decompositions(), folder / FILES["decomposed"])
        # In doubles, so that PyTorch's rounding errors do not count against us.
        outputs = module.double()(*(values.double() if values.is_floating_point() else values for values in arguments))
    if not isinstance(outputs, tuple):
        outputs = (outputs,)
    return dict(zip(program.graph_signature.user_inputs, inputs)), [output.float().numpy() for output in outputs]


# ---- Comparing

def check(report, name):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        try:
            inputs, outputs = isolated(export, name, folder, seconds=SECONDS)
        except PeerFailed as error:
            report.add("wrong", name, f"cannot be exported: {error}")
            return
        expected = [Expected(f"output {index}", values, "float") for index, values in enumerate(outputs)]
        for form, file in FILES.items():
            line = f"{name} {form}"
            with report.model(line, folder / file):
                report.compare(line, run_attune(folder / file, inputs), expected)


def main():
    report = Report("PyTorch")
    for name in (*NETWORKS, BERT):
        if is_asked_for(name):
            check(report, name)
    report.finish()


if __name__ == "__main__":
    main()
