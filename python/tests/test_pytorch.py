"""PyTorch's programs, and torch.compile(backend="attune"). CI has no PyTorch, and runs what needs none."""
import gc
import json
import subprocess
import sys
import types
import warnings
import weakref
import zipfile

import numpy
import pytest

import attune


def write_relu(path):
    """Writes a program y = relu(x) as torch.export.save does."""
    def tensor(name):
        return {"as_tensor": {"name": name}}

    meta = {"dtype": 7, "sizes": [{"as_int": 3}], "strides": [{"as_int": 1}], "storage_offset": {"as_int": 0},
            "requires_grad": False, "device": {"type": "cpu"}, "layout": 7}
    node = {"target": "torch.ops.aten.relu.default", "name": "y", "outputs": [tensor("y")], "metadata": {},
            "inputs": [{"name": "self", "arg": tensor("x"), "kind": 1}]}
    graph = {"inputs": [tensor("x")], "outputs": [tensor("y")], "nodes": [node], "tensor_values": {"x": meta, "y": meta}}
    signature = {"input_specs": [{"user_input": {"arg": tensor("x")}}],
                 "output_specs": [{"user_output": {"arg": tensor("y")}}]}
    program = {"graph_module": {"graph": graph, "signature": signature}, "schema_version": {"major": 8, "minor": 20}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/archive_format", "pt2")
        archive.writestr("model/models/model.json", json.dumps(program))
        for kind in ("weights", "constants"):
            archive.writestr(f"model/data/{kind}/model_{kind}_config.json", json.dumps({"config": {}}))


class Program:
    """Stands for a torch.export.ExportedProgram."""


class Module:
    """Stands for a torch.nn.Module."""


@pytest.fixture
def torch_modules(monkeypatch):
    export = types.SimpleNamespace(ExportedProgram=Program, save=lambda program, path: write_relu(path))
    monkeypatch.setitem(sys.modules, "torch.export", export)
    monkeypatch.setitem(sys.modules, "torch.nn", types.SimpleNamespace(Module=Module))
    return export


def test_an_exported_program_is_loaded(torch_modules):
    outputs = attune.load(Program()).run({"x": numpy.array([-1, 0, 2], numpy.float32)})
    numpy.testing.assert_array_equal(outputs["y"], [0, 0, 2])


def test_what_cannot_be_loaded_is_named(torch_modules):
    with pytest.raises(attune.InvalidError, match="Module is a PyTorch module.*torch.export.export"):
        attune.load(Module())
    with pytest.raises(attune.InvalidError, match="cannot load a list"):
        attune.load([])
    torch_modules.save = lambda program, file: None
    with pytest.raises(attune.InvalidError, match="the Program: the file is empty"):
        attune.load(Program())


def test_pytorch_is_not_imported():
    code = "import attune, sys; attune.zoo('squeezenet1_1'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


# ---- With PyTorch

@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    pytest.importorskip("attune.torch")
    torch.manual_seed(0)
    torch.compiler.reset()
    return torch


@pytest.fixture
def module(torch):
    nn = torch.nn
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(4, 5)).eval()


@pytest.fixture
def image(torch):
    return torch.randn(1, 3, 8, 8)


def counted(function):
    """The result of a call, the graphs that were compiled for it, and the reasons of those that fell back."""
    before = attune.torch.counts()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function()
    after = attune.torch.counts()
    reasons = [reason for reason, graphs in after["reasons"].items() if graphs != before["reasons"].get(reason, 0)]
    return result, after["compiled"] - before["compiled"], reasons


def compiled(torch, function, **options):
    return torch.compile(function, backend=sys.modules["attune.torch"].backend, **options)


def test_a_real_program_is_loaded(torch, module, image):
    outputs = attune.load(torch.export.export(module, (image,))).run({"input": image})
    numpy.testing.assert_allclose(outputs["linear"], module(image).detach(), atol=1e-5)


def test_a_module_is_compiled_once_for_each_shape(torch, module, image):
    fast = compiled(torch, module, options={"threads": 2})
    for mode in (torch.no_grad, torch.inference_mode):
        torch.compiler.reset()
        with mode():
            for batch, graphs in ((1, 1), (3, 1), (2, 1), (3, 0), (1, 0)):
                images = image.repeat(batch, 1, 1, 1)
                scores, count, reasons = counted(lambda: fast(images))
                assert (count, reasons) == (graphs, [])
                torch.testing.assert_close(scores, module(images), atol=1e-5, rtol=1e-4)


def test_a_call_that_needs_gradients_has_them(torch, module, image):
    scores, count, reasons = counted(lambda: compiled(torch, module)(image))
    scores.sum().backward()
    assert module[0].weight.grad is not None
    assert count == 0 and "gradients may be needed" in reasons[0]
    module.requires_grad_(False)
    scores, count, reasons = counted(lambda: compiled(torch, module)(image))
    assert (count, reasons) == (1, [])


def test_weights_that_change_count(torch, module, image):
    fast = compiled(torch, module)
    with torch.inference_mode():
        fast(image)
    with torch.no_grad():
        fast(image)
        module[0].weight.mul_(2)
        torch.testing.assert_close(fast(image), module(image), atol=1e-5, rtol=1e-4)
        module[5].bias = torch.nn.Parameter(torch.ones(5))
        torch.testing.assert_close(fast(image), module(image), atol=1e-5, rtol=1e-4)
        module[1].running_mean.add_(1)
        torch.testing.assert_close(fast(image), module(image), atol=1e-5, rtol=1e-4)


def test_writing_into_a_part_is_compiled(torch):
    def function(x):
        mask = torch.zeros(4, 4)
        mask[1:, 2] = 5
        mask[0] = x[0]
        return torch.nn.functional.scaled_dot_product_attention(x, x, x + mask)

    x = torch.randn(4, 4)
    with torch.no_grad():
        y, count, reasons = counted(lambda: compiled(torch, function)(x))
    assert (count, reasons) == (1, [])
    torch.testing.assert_close(y, function(x))


@pytest.mark.parametrize("function, words", [
    (lambda torch, x: x.add_(1) * 2, "changes one of its inputs"),
    (lambda torch, x: (x * 2, x.view(-1)), "shares the memory of an input"),
    (lambda torch, x: torch.fft.fft(x).abs(), "not supported: aten.fft_fft.default"),
    (lambda torch, x: torch.nn.functional.dropout(x, 0.5), "training mode; export the model after model.eval()"),
])
def test_what_cannot_be_compiled_falls_back(torch, function, words):
    x = torch.randn(2, 3)
    torch.manual_seed(1)
    expected = function(torch, x.clone())
    torch.manual_seed(1)
    with torch.no_grad():
        outputs, count, reasons = counted(lambda: compiled(torch, function)(torch, x.clone()))
    torch.testing.assert_close(outputs, expected)
    assert count == 0 and words in reasons[0]


def test_a_fallback_is_said_once(torch):
    fast = compiled(torch, lambda x: torch.fft.ifft(x).abs())
    with torch.no_grad(), pytest.warns(UserWarning, match="not supported: aten.fft_ifft.default") as caught:
        fast(torch.randn(2, 3))
    assert caught[0].filename == __file__
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        fast(torch.randn(2, 3))
        fast(torch.randn(2, 4))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64", "int64", "bool"])
def test_elements_of_any_type(torch, dtype):
    x = torch.tensor([[0, 1, 2], [3, 0, 5]]).to(getattr(torch, dtype))
    for value in (x, x.t()):
        with torch.no_grad():
            (y, one), count, reasons = counted(
                lambda: compiled(torch, lambda x: (torch.cat([x, x]), x.clone()[0, 1]))(value))
        assert (count, reasons) == (1, [])
        assert (y.dtype, one.shape) == (value.dtype, ())
        assert torch.equal(y, torch.cat([value, value])) and one == value[0, 1]


def test_graphs_between_breaks_are_compiled(torch, capsys):
    def function(x):
        y = torch.sin(x)
        print("break")
        return y.relu() + 1

    x = torch.randn(2, 3)
    with torch.no_grad():
        y, count, reasons = counted(lambda: compiled(torch, function)(x))
    assert (count, reasons) == (2, [])
    torch.testing.assert_close(y, x.sin().relu() + 1)


def test_autocast_is_left_to_pytorch(torch, module, image):
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        scores, count, reasons = counted(lambda: compiled(torch, module)(image))
    assert scores.dtype == torch.bfloat16 and count == 0 and "torch.autocast is on" in reasons[0]


@pytest.mark.parametrize("arguments, words", [
    ({"options": {"thread": 1}}, "no option \"thread\"; its options are precision"),
    ({"options": {"threads": "2"}}, "option \"threads\": '2' is not of type int"),
    ({"mode": "max-autotune"}, "no mode \"max-autotune\""),
])
def test_wrong_options_are_named(torch, arguments, words):
    with pytest.raises(Exception, match=words):
        compiled(torch, torch.sin, **arguments)(torch.randn(2))


def test_a_module_is_freed(torch, module, image):
    fast = compiled(torch, module)
    with torch.no_grad():
        fast(image)
    gone = weakref.ref(module[0].weight)
    module[0] = torch.nn.Conv2d(3, 4, 3)
    with torch.no_grad():
        fast(image)
    gc.collect()
    assert gone() is None


def test_the_backend_has_a_name(torch):
    assert "attune" in torch.compiler.list_backends()
