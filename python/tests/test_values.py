"""Errors of what a caller gives, misspelt, out of its range or of a wrong type: one sentence each, in the words of Python."""
import copy
import os
import pickle

import numpy
import pytest

import attune
from attune.onnxruntime import InferenceSession, OrtValue, SessionOptions


@pytest.fixture
def path(words):
    """A model of one input v1 int64[3]."""
    return words


IDS = numpy.array([0, 1, 2])


@pytest.mark.parametrize("call", [
    lambda path: attune.load(path, shapes={"typo": [3]}),
    lambda path: attune.load(path, shapes={"v1": [3], "typo": [3]}),
    lambda path: attune.load(path, values={"typo": IDS}),
    lambda path: attune.load(path).optimize(examples={"typo": IDS}),
    lambda path: attune.load(path).run({"typo": IDS}),
    lambda path: attune.load(path).verify({"typo": IDS}),
    lambda path: attune.load(path).bench(0, inputs={"typo": IDS}),
    lambda path: attune.load(path).profile(1, inputs={"typo": IDS}),
    lambda path: attune.load(path).session().run({"typo": IDS}),
    lambda path: InferenceSession(path).run(None, {"typo": IDS}),
])
def test_misspelt_inputs_are_refused(path, call):
    with pytest.raises(attune.InvalidError, match="there is no input \"typo\"; the inputs are v1"):
        call(path)


@pytest.mark.parametrize("call", [
    lambda path: attune.load(path, shapes=[{"typo": [1]}]),
    lambda path: attune.load(path, values={"typo": IDS}),
    lambda path: attune.load(path, pad_to={"length": [4]}, pad_value={"typo": 1}),
    lambda path: attune.load(path).optimize(examples={"typo": IDS}).run(numpy.zeros((1, 2, 4), numpy.float32)),
    lambda path: attune.load(path).at({"typo": [1]}),
])
def test_misspelt_inputs_of_open_networks_are_refused(open_model, call):
    with pytest.raises(attune.InvalidError, match="there is no input \"typo\"; the inputs are v1"):
        call(open_model[0])


def test_samples_with_misspelt_inputs_are_refused():
    network = attune.zoo("squeezenet1_1")
    image = network.random_input("input")
    with pytest.raises(attune.InvalidError, match="there is no input \"typo\"; the inputs are input"):
        network.quantize([{"input": image, "typo": image}])


@pytest.mark.parametrize("step, arguments, message", [
    ("tune", {"minutes": -1}, "minutes: is -1, and must be at least 0"),
    ("tune", {"minutes": float("nan")}, "minutes: is nan, and must be at least 0"),
    ("tune", {"trials": -1}, "trials: is -1, and must be from 1 to"),
    ("tune", {"batch": 0}, "batch: is 0, and must be from 1 to 4096"),
    ("tune", {"seed": -1}, "seed: is -1, and must be from 0 to"),
    ("tune", {"execution_seconds": -0.5}, "execution_seconds: is -0.5, and must be from 0.01 to 3600, or 0"),
    ("compile", {"threads": -1}, "threads: is -1, and must be from 1 to 1024, or 0"),
    ("compile", {"threads": 1 << 40}, "threads: is 1099511627776"),
    ("quantize", {"data": [], "percentile": 101}, "percentile: is 101, and must be from 50 to 100"),
    ("quantize", {"data": [], "max_drop": -1}, "max_drop: is -1, and must be from 0 to 1"),
    ("quantize", {"data": [], "clusters": 5}, "clusters: is 5, and must be 16 or 32, or 0"),
    ("optimize", {"precision": "fp64"}, "precision: \"fp64\" is none of"),
])
def test_numbers_have_their_ranges(path, open_model, step, arguments, message):
    for model in path, open_model[0]:
        with pytest.raises(attune.InvalidError) as raised:
            getattr(attune.load(model, shapes=[{"v1": [1, 2, 4]}] if model != path else None), step)(**arguments)
        assert message in str(raised.value)


@pytest.mark.parametrize("call, message", [
    (lambda network: network.bench(-1), "must be from 0 to"),
    (lambda network: network.bench(0, threads=-1), "threads is -1"),
    (lambda network: network.profile(0), "must be at least 1"),
    (lambda network: network.run(IDS, threads=-1), "threads: is -1, and must be at least 0"),
    (lambda network: network.session(threads=-1), "threads: is -1, and must be at least 0"),
    (lambda network: network.verify(seed=-1), "seed: is -1, and must be from 0 to"),
    (lambda network: attune.CacheLimits(files=-1), "CacheLimits: files is -1, and must be at least 0"),
])
def test_numbers_of_runs_have_their_ranges(path, call, message):
    with pytest.raises(attune.InvalidError) as raised:
        call(attune.load(path))
    assert message in str(raised.value)


@pytest.mark.parametrize("step, arguments, message", [
    ("tune", {"trials": 1.5}, "trials: must be a whole number, and is of type float"),
    ("tune", {"minutes": "5m"}, "minutes: must be a number, and is of type str"),
    ("tune", {"transfer": "no"}, "transfer: must be True or False, and is of type str"),
    ("compile", {"cpus": 3}, "cpus: must be a list of str, and is of type int"),
    ("compile", {"cpus": [3]}, "cpus: must be a str, and is of type int"),
    ("compile", {"records": 3}, "records: must be a path, and is of type int"),
])
def test_types_are_checked(path, step, arguments, message):
    with pytest.raises(TypeError) as raised:
        getattr(attune.load(path), step)(**arguments)
    assert str(raised.value) == message


def test_a_string_is_one_element_of_a_list(path):
    assert attune.load(path).compile(cpus="x86-64-v3").inspect()["cpus"] == ["x86-64-v3"]
    session = InferenceSession(path, providers="CPUExecutionProvider")
    numpy.testing.assert_array_equal(session.run("v3", {"v1": IDS})[0], session.run(["v3"], {"v1": IDS})[0])


@pytest.mark.parametrize("call, message", [
    (lambda path: attune.load(path).quantize("photos"), "data: must be an iterable of samples"),
    (lambda path: attune.load(path).quantize({"v1": IDS}), "data: must be an iterable of samples"),
    (lambda path: attune.load(path, shapes="1x3"), "shapes: must be a dict by the names of inputs"),
    (lambda path: attune.load(path, shapes={"v1": "3"}), "shapes: of input \"v1\" must be a list of sizes"),
    (lambda path: attune.load(path, shapes={"v1": 3}), "shapes: of input \"v1\" must be a list of sizes"),
    (lambda path: attune.load(path, trusted_keys="ab"), "trusted_keys: takes a list of keys"),
    (lambda path: attune.load(path).run("v1"), "inputs: must be a dict by the names of inputs"),
])
def test_a_string_is_no_data(path, call, message):
    with pytest.raises(attune.InvalidError) as raised:
        call(path)
    assert message in str(raised.value)


def test_the_only_input_needs_no_name(path, open_model):
    network, expected = attune.load(path), attune.load(path).run({"v1": IDS})["v3"]
    for outputs in (network.run(IDS), network.run([0, 1, 2]), network.session().run(IDS), network.compile().run(IDS)):
        numpy.testing.assert_array_equal(outputs["v3"], expected)
    assert all(check["ok"] for check in network.verify(IDS))
    assert len(network.bench(0, inputs=IDS)) == 3
    array = numpy.ones((1, 2, 4), numpy.float32)
    numpy.testing.assert_allclose(attune.load(open_model[0]).run(array)["v4"], open_model[1](array), atol=1e-5)


def test_outputs_are_described(path, open_model, tmp_path):
    network = attune.load(path)
    assert network.outputs == network.compile().outputs == {"v3": ("f32", (3, 2))}
    network.save(tmp_path / "net.atn")
    assert attune.load(tmp_path / "net.atn").outputs == {"v3": ("f32", (3, 2))}
    assert attune.load(open_model[0]).outputs == {"v4": ("f32", (-1, -1, 3))}


def test_errors_say_what_to_give_in_python(tmp_path):
    from onnx_writer import Model
    model = Model()
    model.write(tmp_path / "net.onnx", model.node("Add", model.input("batch", "length"), model.input("n", 2)))
    with pytest.raises(attune.InvalidError) as raised:
        attune.load(tmp_path / "net.onnx", shapes={})
    assert "for example shapes={\"" in str(raised.value) and "[1, 128]" in str(raised.value)
    assert "--shape" not in str(raised.value)


def test_a_missing_file_is_a_missing_file_of_python_too(tmp_path):
    for call in (attune.load, attune.sweeps.read, InferenceSession):
        with pytest.raises(FileNotFoundError, match="none.onnx") as raised:
            call(tmp_path / "none.onnx")
        assert isinstance(raised.value, attune.MissingFileError) and isinstance(raised.value, attune.NotFoundError)
    with pytest.raises(attune.NotFoundError) as raised:
        attune.zoo("poem")
    assert not isinstance(raised.value, OSError)


def test_pickling_says_what_to_do_instead(path, open_model):
    network = attune.load(path)
    for value, advice in ((network, "save"), (attune.load(open_model[0]), "save"), (network.session(), "the other process"),
                          (attune.Device.here(), "in_fleet"), (InferenceSession(path), "the other process")):
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=f"cannot be pickled; .*{advice}"):
                call(value)


def test_objects_show_what_they_are(path, open_model, tmp_path):
    network = attune.load(path)
    session = network.session(threads=1)
    assert repr(session) == "<attune.Session(v1: int64[3]), 1 thread>"
    session.close()
    assert "closed" in repr(session)
    opened = attune.load(open_model[0]).session()
    assert "OpenSession of <attune.OpenNetwork(v1: f32[batch,length,4])>" in repr(opened)
    context = attune.BenchmarkingContext(workspace=tmp_path / "study")
    assert context.run_id in repr(context) and "this machine" in repr(context)
    tuner = attune.Tuner(context)
    assert "no model" in repr(tuner)
    assert os.fspath(path) in repr(tuner.from_model(path)) and ", built" in repr(tuner.build())
    assert "InferenceSession(v1: tensor(int64)[3]) -> (v3: tensor(float)[3, 2])" in repr(InferenceSession(path))
    assert "tensor(int64)[3]" in repr(OrtValue.ortvalue_from_numpy(IDS))
    options = SessionOptions()
    options.intra_op_num_threads = 2
    assert repr(options) == "<attune.onnxruntime.SessionOptions(intra_op_num_threads=2)>"


def test_the_zoo_lists_its_names():
    names = attune.zoo()
    assert "squeezenet1_1" in names and names == sorted(set(names), key=names.index)
