"""python -m common.models.export_torch CASE onnx|ncnn FILE    writes a network of torchvision or transformers"""
import pathlib
import sys

import torch

from common.models.cases import case_named

OPSET = 17


def build_bert():
    from transformers import BertConfig, BertModel

    class LastHiddenState(torch.nn.Module):
        """From token ids to the encoder's last layer, one tensor each."""

        def __init__(self):
            super().__init__()
            self.bert = BertModel(BertConfig(attn_implementation="eager"))

        def forward(self, ids):
            return self.bert(input_ids=ids).last_hidden_state

    return LastHiddenState()


def build(case):
    """The network in torch, with the same weights in each call."""
    torch.manual_seed(0)
    if case.network.framework == "transformers":
        return shake(build_bert())
    import torchvision.models

    options = {}
    if case.width != 1:
        options["width_mult"] = case.width
    if case.network.name == "inception_v3":
        options["init_weights"] = False  # its own initialization takes minutes
    if case.network.name == "vit_b_16":
        options["image_size"] = case.pixels
    return shake(getattr(torchvision.models, case.network.constructor)(weights=None, **options))


def shake(module):
    """Gives values to parameters that are 0 or 1 in a fresh network, so that leaving out a computation shows."""
    for layer in module.modules():
        if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm):
            layer.running_mean.normal_(0, 0.1)
            layer.running_var.uniform_(0.5, 1.5)
        if isinstance(layer, torch.nn.Linear) and not layer.weight.any():
            torch.nn.init.normal_(layer.weight, std=0.02)
    return module.eval()


def example(case):
    return torch.zeros(case.shape, dtype=torch.long) if case.is_text else torch.zeros(case.shape)


def write_onnx(module, inputs, path):
    torch.onnx.export(module, inputs, str(path), opset_version=OPSET, dynamo=False,
                      input_names=["input"], output_names=["output"])


def write_ncnn(module, inputs, path):
    """Exports through pnnx, which traces the module and writes much else beside `path` and its .bin."""
    import pnnx

    # By default it stores weights as fp16. Its check of the trace fails on networks with attention.
    pnnx.export(module, str(path.with_name("traced.pt")), inputs, fp16=False, check_trace=False)
    path.with_name("traced.ncnn.bin").rename(path.with_suffix(".bin"))
    path.with_name("traced.ncnn.param").rename(path)


def main():
    name, form, path = sys.argv[1:]
    case = case_named(name)
    # The fused attention for inference cannot be traced.
    torch.backends.mha.set_fastpath_enabled(False)
    write = {"onnx": write_onnx, "ncnn": write_ncnn}[form]
    with torch.no_grad():
        write(build(case), (example(case),), pathlib.Path(path))


if __name__ == "__main__":
    main()
