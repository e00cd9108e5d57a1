#!/usr/bin/env python3
"""check_pytorch_attention.py [--seed N] [--count N]    PyTorch's scaled_dot_product_attention gives what PyTorch gives

Draws ranks, masks (some with queries that see no key), shared heads and scales, and exports each as torch.export.export
leaves it, and after run_decompositions(). PyTorch comes with the set-up of the benchmarks:
build/bench/python/bin/python tests/end_to_end/check_pytorch_attention.py
"""
import math
import pathlib
import tempfile

import numpy
import torch

from checks import check_drawn
from common.program import Failed
from comparing import Expected, compare_all
from peers import run_attune


class Attention(torch.nn.Module):
    def __init__(self, options):
        super().__init__()
        self.options = options

    def forward(self, query, key, value, mask=None):
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, **self.options)


def draw(random):
    """The options and the inputs by their names."""
    leading = [int(random.integers(1, 3)) for _ in range(random.choice([0, 1, 2, 2, 2, 3]))]
    queries, keys, size, value_size = (int(random.integers(1, 7)) for _ in range(4))
    options = {"scale": random.choice([None, 0.3]), "enable_gqa": len(leading) >= 2 and random.random() < 0.3}
    heads = list(leading)
    if options["enable_gqa"]:
        heads[-1] *= int(random.choice([1, 2, 3]))
    shapes = {"query": [*heads, queries, size], "key": [*leading, keys, size], "value": [*leading, keys, value_size]}
    inputs = {name: random.standard_normal(shape).astype(numpy.float32) for name, shape in shapes.items()}
    kind = random.choice(["none", "causal", "bool", "float"])
    options["is_causal"] = bool(kind == "causal")
    if kind in ("bool", "float"):
        shape = [1 if random.random() < 0.4 else count for count in heads] + [queries, keys]
        shape = shape[int(random.integers(0, len(shape) - 1)):]
        allowed = random.random(shape) < random.choice([0.3, 0.8])
        floats = numpy.where(allowed, random.standard_normal(shape), -math.inf).astype(numpy.float32)
        inputs["mask"] = allowed if kind == "bool" else floats
    return options, inputs


def check_case(seed):
    """Yields one line for each program that is wrong."""
    options, inputs = draw(numpy.random.default_rng(seed))
    module, arguments = Attention(options).eval(), tuple(torch.from_numpy(array) for array in inputs.values())
    expected = [Expected("y", module(*arguments).numpy(), "float")]
    exported = torch.export.export(module, arguments)
    shapes = ", ".join(f"{name} {list(array.shape)}" for name, array in inputs.items())
    for form, program in (("as exported", exported), ("decomposed", exported.run_decompositions())):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.pt2"
            torch.export.save(program, path)
            try:
                good, text = compare_all(run_attune(path, inputs), expected)
            except Failed as error:
                good, text = False, str(error)
        if not good:
            yield f"seed {seed}, {form}: {options}, {shapes}\n{text}"


check_drawn(__doc__, "modules", lambda seed: "\n".join(check_case(seed)), count=60)
