"""Artifacts with several sets of input shapes, and open models that cannot be compiled for any, or ask for shapes."""
import numpy
import pytest
from onnx_writer import DTYPES, Model, data, number

import attune
from attune.onnxruntime import InferenceSession

SETS = [{"v1": [1, 2, 4]}, {"v1": [3, 5, 4]}]


def given(*shape):
    return numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)


@pytest.fixture
def saved(open_model, tmp_path):
    path, _ = open_model
    attune.load(path, shapes=SETS).compile(records="none").save(tmp_path / "net.atn")
    return tmp_path / "net.atn"


def test_one_file_has_all_sets_of_shapes(open_model, saved):
    loaded = attune.load(saved)
    assert loaded.inputs == {"v1": ("f32", (-1, -1, 4))} and "compiled" in repr(loaded)
    for network in loaded, attune.load(saved.read_bytes()), InferenceSession(saved):
        for shape in (3, 5, 4), (1, 2, 4):
            if isinstance(network, InferenceSession):
                outputs = dict(zip(["v4"], network.run(None, {"v1": given(*shape)})))
            else:
                outputs = network.run(given(*shape))
            numpy.testing.assert_allclose(outputs["v4"], open_model[1](given(*shape)), atol=1e-5)
    with pytest.raises(attune.InvalidError, match="is not compiled for inputs of these shapes, but for"):
        loaded.run(given(2, 2, 4))


def test_outputs_are_known_before_a_run(saved):
    output, = InferenceSession(saved).get_outputs()
    assert (output.name, output.shape) == ("v4", [None, None, 3])


def test_weights_are_in_the_file_once(open_model, saved, tmp_path):
    both = saved.stat().st_size
    attune.load(open_model[0], shapes=SETS[:1]).compile(records="none").save(tmp_path / "one.atn")
    assert both < 2 * (tmp_path / "one.atn").stat().st_size


def test_one_of_several_sets_is_loaded_by_its_shapes(open_model, saved):
    for shapes in SETS:
        network = attune.load(saved, shapes=shapes)
        array = given(*shapes["v1"])
        assert network.inputs == {"v1": ("f32", tuple(shapes["v1"]))}
        numpy.testing.assert_allclose(network.run(array)["v4"], open_model[1](array), atol=1e-5)


def test_what_is_compiled_takes_no_more_steps(saved):
    loaded = attune.load(saved)
    for step in (loaded.optimize, loaded.compile, loaded.tune, lambda: loaded.quantize([])):
        with pytest.raises(attune.InvalidError, match=f"{saved} is compiled already; load the model"):
            step()


def test_what_is_compiled_has_no_reference_to_verify_with(open_model, saved, tmp_path):
    loaded = attune.load(saved)
    for inputs in (None, {"v1": given(*SETS[0]["v1"])}):
        with pytest.raises(attune.InvalidError, match=r"^verify\(\): .*net.atn is compiled already; load the model that it was"):
            loaded.verify(inputs)
    attune.load(open_model[0], shapes=SETS[0]).save(tmp_path / "one.atn")
    for path, shapes in ((saved, SETS[0]), (tmp_path / "one.atn", None)):
        with pytest.raises(attune.InvalidError, match=f"^{path}: is compiled already; to verify it, give the model"):
            attune.load(path, shapes=shapes).verify()


def test_operators_that_are_missing_are_named_before_any_shape(tmp_path):
    model = Model()
    model.write(tmp_path / "net.onnx", model.node("Poem", model.input("batch", 4)))
    for load in (attune.load, InferenceSession):
        with pytest.raises(attune.UnsupportedError, match="not supported: Poem "):
            load(tmp_path / "net.onnx")
    size, kind = data(7, data(2, number(1, -1))), number(6, 1)
    attributes = [data(5, data(1, key) + data(2, value)) for key, value in (("dtype", kind), ("shape", size))]
    nodes = [data(1, "x") + data(2, "Placeholder") + b"".join(attributes), data(1, "y") + data(2, "Poem") + data(3, "x")]
    (tmp_path / "net.pb").write_bytes(b"".join(data(1, node) for node in nodes) + data(4, number(1, 1000)))
    with pytest.raises(attune.UnsupportedError, match="not supported: Poem y: no such operator is known"):
        attune.load(tmp_path / "net.pb")


@pytest.mark.parametrize("dtype, example", [("float32", [1, 3, 224, 224]), ("int64", [1, 128])])
def test_an_input_without_rank_is_asked_for_by_an_example_that_works(tmp_path, dtype, example):
    model = Model()
    model.parts.append(data(11, data(1, model.name()) + data(2, data(1, number(1, DTYPES[dtype])))))
    model.write(tmp_path / "net.onnx", model.node("Abs", "v1"), dtype)
    network = attune.load(tmp_path / "net.onnx")
    words = f"input 'v1' of any shape; give the shapes, for example shapes={{\"v1\": {example}}}"
    for ask in (lambda: network.at({}), network.bench, lambda: attune.load(tmp_path / "net.onnx", shapes={})):
        with pytest.raises(attune.InvalidError) as raised:
            ask()
        assert str(raised.value).endswith(words)
    assert network.at({"v1": example}).inputs["v1"][1] == tuple(example)


def test_an_input_of_open_sizes_is_asked_for_by_an_example(open_model):
    for ask, words in ((lambda network: network.at({}), ""), (lambda network: network.verify(), r"network.at\({...}\).verify\(\); ")):
        with pytest.raises(attune.InvalidError, match=words + r".*for example shapes={\"v1\": \[1, 128, 4\]}$"):
            ask(attune.load(open_model[0]))
