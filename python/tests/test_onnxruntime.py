"""attune.onnxruntime, as scripts for ONNX Runtime use it."""
import json
import subprocess
import sys
import types

import numpy
import pytest

import attune
import attune.onnxruntime as onnxruntime
from attune.onnxruntime import backend
from attune.onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument, NoSuchFile
from attune.open_network import OpenNetwork


def given(*shape):
    return numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)


@pytest.fixture
def session(open_model):
    return onnxruntime.InferenceSession(open_model[0], providers=["CPUExecutionProvider"])


def test_inputs_and_outputs_are_described(session):
    assert str(session.get_inputs()[0]) == "NodeArg(name='v1', type='tensor(float)', shape=['batch', 'length', 4])"
    assert session.get_outputs()[0].shape == ["batch", "length", 3]
    about = session.get_modelmeta()
    assert (about.producer_name, about.graph_name, about.version) == ("onnx_writer", "small", 0)
    assert about.custom_metadata_map == {"key": "text"}
    assert session.get_providers() == onnxruntime.get_available_providers() == ["CPUExecutionProvider"]


def test_it_is_as_onnxruntime(open_model, session):
    peer = pytest.importorskip("onnxruntime").InferenceSession(open_model[0])
    for get in ("get_inputs", "get_outputs"):
        ours, theirs = getattr(session, get)(), getattr(peer, get)()
        assert [(one.name, one.type, one.shape) for one in ours] == [(one.name, one.type, one.shape) for one in theirs]
    ours, theirs = session.get_modelmeta(), peer.get_modelmeta()
    for key in ("producer_name", "graph_name", "domain", "description", "custom_metadata_map"):
        assert getattr(ours, key) == getattr(theirs, key)
    for shape in ((1, 2, 4), (2, 3, 4)):
        for mine, other in zip(session.run(None, {"v1": given(*shape)}), peer.run(None, {"v1": given(*shape)})):
            assert mine.dtype == other.dtype
            numpy.testing.assert_allclose(mine, other, atol=1e-5)
    for name in ("GraphOptimizationLevel", "ExecutionMode"):
        for member in getattr(onnxruntime, name):
            assert getattr(getattr(pytest.importorskip("onnxruntime"), name), member.name).value == member.value
    peers = pytest.importorskip("onnxruntime").SessionOptions()
    assert all(hasattr(peers, setting) for setting in onnxruntime.SessionOptions._DEFAULTS)


def test_a_fixed_shape_is_compiled_at_once(open_model):
    options = onnxruntime.SessionOptions()
    options.add_free_dimension_override_by_name("batch", 1)
    options.add_free_dimension_override_by_name("length", 2)
    session = onnxruntime.InferenceSession(open_model[0].read_bytes(), options)
    with pytest.raises(InvalidArgument, match="must be"):
        session.run(None, {"v1": given(1, 3, 4)})
    assert session.run([], {"v1": given(1, 2, 4)})[0].shape == (1, 2, 3)


def test_a_second_session_with_fixed_shapes_compiles_nothing(words, cache, monkeypatch):
    imports = []
    replayed = OpenNetwork._replayed
    monkeypatch.setattr(OpenNetwork, "_replayed", lambda self, sizes: imports.append(sizes) or replayed(self, sizes))
    ids = numpy.array([2, 0, 1])
    first, second = (onnxruntime.InferenceSession(words).run(None, {"v1": ids})[0] for _ in range(2))
    numpy.testing.assert_array_equal(first, second)
    assert imports == [((3,),)] and len(list(cache.iterdir())) == 1
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 3  # other code
    onnxruntime.InferenceSession(words.read_bytes(), options)
    assert len(imports) == 2


def test_a_dimension_that_is_not_there_is_warned_of(words):
    options = onnxruntime.SessionOptions()
    options.add_free_dimension_override_by_name("batch", 1)
    with pytest.warns(UserWarning, match="no open dimension \"batch\"") as caught:
        onnxruntime.InferenceSession(words, options)
    assert caught[0].filename == __file__


def test_install_makes_other_packages_import_it(open_model):
    code = ("import attune.onnxruntime\n"
            "attune.onnxruntime.install()\n"
            "attune.onnxruntime.install()\n"
            "import onnxruntime, onnxruntime.backend\n"
            "from onnxruntime.capi.onnxruntime_pybind11_state import NoSuchFile\n"
            f"session = onnxruntime.InferenceSession({str(open_model[0])!r})\n"
            "assert onnxruntime is attune.onnxruntime and NoSuchFile is attune.NotFoundError\n"
            "print(session.get_inputs()[0].name)\n")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "v1\n"


def test_install_after_the_other_one_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", types.ModuleType("onnxruntime"))
    with pytest.raises(attune.InvalidError, match="onnxruntime is imported already"):
        onnxruntime.install()


def test_outputs_come_in_the_asked_order(session):
    first, second = session.run(["v4", "v4"], {"v1": given(1, 2, 4)}, run_options=onnxruntime.RunOptions())
    numpy.testing.assert_array_equal(first, second)
    numpy.testing.assert_array_equal(session.run(["v4"], {"v1": given(1, 2, 4).tolist()})[0], first)


def test_values_and_bindings(session):
    value = onnxruntime.OrtValue.ortvalue_from_numpy(given(1, 2, 4))
    assert (value.shape(), value.data_type(), value.device_name()) == ([1, 2, 4], "tensor(float)", "cpu")
    expected = session.run(None, {"v1": value})[0]
    result, = session.run_with_ort_values(["v4"], {"v1": value})
    numpy.testing.assert_array_equal(numpy.from_dlpack(result), expected)

    binding = session.io_binding()
    binding.bind_cpu_input("v1", given(1, 2, 4))
    binding.bind_output("v4")
    session.run_with_iobinding(binding)
    numpy.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], expected)
    numpy.testing.assert_array_equal(binding.get_outputs()[0].numpy(), expected)

    source, target = given(1, 2, 4), numpy.zeros((1, 2, 3), numpy.float32)
    binding = session.io_binding()
    binding.bind_input("v1", "cpu", 0, numpy.float32, source.shape, source.ctypes.data)
    binding.bind_output("v4", "cpu", 0, numpy.float32, target.shape, target.ctypes.data)
    session.run_with_iobinding(binding)
    numpy.testing.assert_array_equal(target, expected)

    target = onnxruntime.OrtValue.ortvalue_from_shape_and_type([1, 2, 3], numpy.float32)
    binding = session.io_binding()
    binding.bind_ortvalue_input("v1", value)
    binding.bind_ortvalue_output("v4", target)
    session.run_with_iobinding(binding)
    numpy.testing.assert_array_equal(target.numpy(), expected)
    value.update_inplace(given(1, 2, 4) * 0)
    session.run_with_iobinding(binding)
    assert not target.numpy().any()
    binding.bind_ortvalue_output("v4", onnxruntime.OrtValue.ortvalue_from_shape_and_type([2], numpy.float32))
    with pytest.raises(InvalidArgument, match="does not fit"):
        session.run_with_iobinding(binding)


def test_profiles(open_model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    session = onnxruntime.InferenceSession(open_model[0], options)
    session.run(None, {"v1": given(1, 2, 4)})
    events = json.loads((tmp_path / session.end_profiling()).read_text())
    assert events and all(event["dur"] >= 0 and event["ph"] == "X" for event in events)


def test_settings_are_taken_and_others_are_named():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.dynamic_block_base", "4")
    assert options.get_session_config_entry("session.dynamic_block_base") == "4"
    with pytest.raises(AttributeError, match="has no speed"):
        options.speed = 1
    with pytest.raises(TypeError, match="intra_op_num_threads"):
        options.intra_op_num_threads = "many"
    with pytest.raises(attune.UnsupportedError, match="register_custom_ops_library"):
        options.register_custom_ops_library("ops.so")
    with pytest.raises(AttributeError, match="attune.onnxruntime has no training"):
        onnxruntime.training
    assert onnxruntime.get_device() == "CPU"
    onnxruntime.set_default_logger_severity(3)
    onnxruntime.set_seed(1)


@pytest.mark.parametrize("call, error, words", [
    (lambda session: session.run(["none"], {"v1": given(1, 2, 4)}), InvalidArgument, "the outputs are v4"),
    (lambda session: session.run(None, {}), ValueError, "no value for input"),
    (lambda session: session.run(None, {"none": given(1)}), InvalidArgument, "v1"),
    (lambda session: session.run(None, {"v1": given(1, 2, 4).astype(float)}), InvalidArgument, "must be f32"),
    (lambda session: session.run(None, {"v1": ["a"]}), InvalidArgument, "v1"),
    (lambda session: session.io_binding().bind_output("none"), InvalidArgument, "the outputs are v4"),
    (lambda session: session.io_binding().bind_output("v4", "cuda"), attune.UnsupportedError, "cuda"),
    (lambda session: session.io_binding().bind_input("v1", "cpu", 0, "float32", [1, 2, 4], 0), InvalidArgument, "address"),
    (lambda session: session.end_profiling(), InvalidArgument, "enable_profiling"),
    (lambda session: onnxruntime.InferenceSession("none.onnx"), NoSuchFile, "none.onnx"),
    (lambda session: backend.prepare("none.onnx", "CUDA"), attune.UnsupportedError, "CUDA"),
])
def test_wrong_use_is_named(session, call, error, words):
    with pytest.raises(error, match=words):
        call(session)


def test_other_providers_are_warned_of(open_model):
    with pytest.warns(UserWarning, match="CUDAExecutionProvider"):
        onnxruntime.InferenceSession(open_model[0], providers=["CUDAExecutionProvider", ("CPUExecutionProvider", {})])


def test_what_is_not_supported_is_listed(tmp_path):
    from onnx_writer import Model
    model = Model()
    model.write(tmp_path / "net.onnx", model.node("Poem", model.input(1, 4)))
    with pytest.raises(attune.UnsupportedError, match="not supported: Poem"):
        onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))


def test_the_backend_interface(open_model):
    prepared = backend.prepare(open_model[0], onnxruntime.get_device())
    expected = open_model[1](given(1, 2, 4))
    for inputs in (given(1, 2, 4), [given(1, 2, 4)], {"v1": given(1, 2, 4)}):
        numpy.testing.assert_allclose(prepared.run(inputs)[0], expected, atol=1e-5)
