"""Models with open dimensions: compiled once for all sizes or for each set of shapes, and kept."""
import concurrent.futures
import os
import subprocess
import sys
import threading
import warnings

import numpy
import pytest

import attune
from attune._arrays import as_array
from attune._source import ModelSource
from attune.compiled_cache import CompiledFiles, CompiledInMemory
from attune.open_network import OpenNetwork


def given(*shape):
    return numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)


def check(network, compute, *shape):
    outputs = network.run({"v1": given(*shape)})
    numpy.testing.assert_allclose(outputs["v4"], compute(given(*shape)), atol=1e-5)


@pytest.fixture
def imports(monkeypatch):
    """The shapes, or all sizes, that are imported, and so not found in a cache."""
    seen = []
    replayed, for_all_sizes = OpenNetwork._replayed, OpenNetwork._compiled_for_all_sizes
    monkeypatch.setattr(OpenNetwork, "_replayed", lambda self, sizes: seen.append(sizes) or replayed(self, sizes))
    monkeypatch.setattr(OpenNetwork, "_compiled_for_all_sizes", lambda self, pattern: seen.append("all sizes") or for_all_sizes(self, pattern))
    return seen


@pytest.fixture
def each_shape(monkeypatch):
    """Networks are compiled for each set of shapes, as those whose sizes cannot stay open."""

    def refuse(self, pattern):
        raise attune.UnsupportedError("this network")

    monkeypatch.setattr(OpenNetwork, "_compiled_for_all_sizes", refuse)


def test_all_sizes_are_compiled_once(open_model, imports):
    path, compute = open_model
    network = attune.load(path)
    assert network.inputs == {"v1": ("f32", (-1, -1, 4))}
    assert "v1: f32[batch,length,4]" in repr(network)
    for shape in ((1, 2, 4), (3, 5, 4), (1, 1, 4), (40, 3, 4), (1, 2, 4)):
        check(network, compute, *shape)
    assert imports == ["all sizes"]


def test_each_set_of_shapes_is_compiled_once(open_model, imports, each_shape):
    path, compute = open_model
    network = attune.load(path)
    for shape in ((1, 2, 4), (3, 5, 4), (1, 2, 4)):
        check(network, compute, *shape)
    assert imports == [((1, 2, 4),), ((3, 5, 4),)]


def test_the_third_set_of_shapes_warns_once(open_model, each_shape):
    network = attune.load(open_model[0], shapes=[{"v1": [9, 9, 4]}], cache=attune.CacheLimits(files=0)).compile()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for length in (2, 5, 2):
            network.run({"v1": given(1, length, 4)})
        assert not caught
        for length in (7, 3):
            network.run({"v1": given(1, length, 4)})
    warning, = caught
    assert warning.filename == __file__
    assert "third set of input shapes" in str(warning.message)
    assert 'pad_to={"length": [2, 8]}' in str(warning.message)


def test_sizes_that_are_padded_to_give_no_warning(open_model):
    network = attune.load(open_model[0], pad_to={"length": [4, 8, 16]}, cache=attune.CacheLimits(files=0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for length in (2, 5, 9):
            network.run({"v1": given(1, length, 4)})


def test_shapes_are_compiled_ahead(open_model, imports):
    path, compute = open_model
    network = attune.load(path, shapes=[{"v1": [1, 2, 4]}, {"v1": [2, 2, 4]}]).compile(records="none")
    assert len(imports) == 2
    check(network, compute, 2, 2, 4)
    check(network, compute, 5, 2, 4)
    assert len(imports) == 3


def test_one_set_of_shapes_gives_a_network_as_before(open_model):
    path, compute = open_model
    network = attune.load(path, shapes={"v1": [1, 2, 4]})
    assert not isinstance(network, OpenNetwork)
    check(network, compute, 1, 2, 4)


def test_bytes_are_a_model(open_model):
    path, compute = open_model
    check(attune.load(path.read_bytes()), compute, 1, 2, 4)


def test_steps_are_replayed(open_model):
    path, compute = open_model
    network = attune.load(path).optimize(weights="fp16")
    outputs = network.run({"v1": given(1, 2, 4)})["v4"]
    numpy.testing.assert_allclose(outputs, compute(given(1, 2, 4)), atol=1e-2)
    assert not numpy.array_equal(outputs, attune.load(path).run({"v1": given(1, 2, 4)})["v4"])
    quantized = attune.load(path).quantize([given(1, 2, 4)] * 3)
    assert quantized.run({"v1": given(1, 2, 4)})["v4"].shape == (1, 2, 3)
    with pytest.raises(attune.InvalidError, match="no sample of the shapes"):
        quantized.run({"v1": given(1, 3, 4)})
    with pytest.raises(attune.InvalidError, match="fp64"):
        attune.load(path).optimize(precision="fp64")


def test_tunes_each_set_of_shapes(open_model, tmp_path, imports):
    path, compute = open_model
    with pytest.raises(attune.InvalidError, match="needs shapes"):
        attune.load(path).tune(trials=1)
    network = attune.load(path, shapes=[{"v1": [1, 64, 4]}, {"v1": [1, 96, 4]}])
    tuned = network.tune(trials=4, batch=2, records=tmp_path / "records.db")
    assert [found["shapes"] for found in tuned.tuning["shapes"]] == [{"v1": (1, 64, 4)}, {"v1": (1, 96, 4)}]
    assert tuned.tuning["trials"] == sum(found["trials"] for found in tuned.tuning["shapes"])
    imports.clear()
    check(tuned.compile(), compute, 1, 64, 4)
    assert not imports
    check(tuned, compute, 1, 5, 4)
    assert len(imports) == 1


def test_new_shapes_follow_what_steps_were_told(open_model, tmp_path):
    path, compute = open_model
    shapes, records = {"v1": [1, 64, 4]}, str(tmp_path / "records.db")
    tuned = attune.load(path, shapes=[shapes]).tune(trials=1, batch=2, threads=2, records=records)
    compiled = tuned.compile(compact=True)
    for network in (tuned, compiled, compiled.on(attune.Device.here()), compiled.optimize(weights="fp16")):
        assert network._plan.compile_options["threads"] == network.session()._threads == 2
        assert network._plan.compile_options["compact"] == (network is not tuned)
    for network in (tuned, compiled):
        assert network._plan.compile_options["records"] == records
        assert network.at({"v1": [1, 5, 4]})._core.threads() == network.at(shapes)._core.threads() == 2
        check(network, compute, 1, 5, 4)
    assert tuned.compile(threads=3).at(shapes)._core.threads() == 3


def test_one_network_of_some_shapes(open_model, tmp_path):
    path, compute = open_model
    network = attune.load(path)
    assert all(row["ok"] for row in network.at({"v1": [1, 2, 4]}).verify())
    assert all(row["ok"] for row in network.verify({"v1": given(1, 2, 4)}))
    assert len(network.bench(0.01, inputs={"v1": given(1, 2, 4)})) >= 3
    with pytest.raises(attune.InvalidError, match=r"network.at\({...}\).save"):
        network.save(tmp_path / "net.atn")
    one = attune.load(path, shapes=[{"v1": [1, 2, 4]}])
    one.save(tmp_path / "net.atn")
    check(attune.load(tmp_path / "net.atn"), compute, 1, 2, 4)
    assert one.inspect()["file_bytes"] > 0 and len(one.profile(rounds=1)) > 0
    assert one.random_input("v1").shape == (1, 2, 4)


def test_a_session_takes_any_shapes(open_model):
    path, compute = open_model
    with attune.load(path).session() as session:
        check(session, compute, 1, 2, 4)
        check(session, compute, 1, 3, 4)
        assert session.outputs["v4"].shape == (1, 3, 3)
    with pytest.raises(attune.InvalidError, match="closed"):
        session.run({"v1": given(1, 2, 4)})


def test_compiled_code_is_kept_on_disk(open_model, cache, imports):
    path, compute = open_model
    check(attune.load(path), compute, 1, 2, 4)
    assert len(list(cache.iterdir())) == 1 and cache.stat().st_mode & 0o777 == 0o700
    check(attune.load(path), compute, 1, 2, 4)
    assert len(imports) == 1
    # Other steps, other code.
    check(attune.load(path).compile(records="none"), compute, 1, 2, 4)
    assert len(imports) == 2
    file = min(cache.iterdir())
    for damaged in (b"", b"rubbish", file.read_bytes()[:-40], bytes(1) + file.read_bytes()[1:]):
        imports.clear()
        for file in cache.iterdir():
            file.write_bytes(damaged)
        check(attune.load(path), compute, 1, 2, 4)
        assert len(imports) == 1


def test_a_cache_that_cannot_be_used_costs_a_compilation(open_model, cache, imports):
    path, compute = open_model
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    for _ in range(2):
        check(attune.load(path), compute, 1, 2, 4)
    assert len(imports) == 2 and not list(cache.iterdir())
    cache.rmdir()
    cache.write_bytes(b"a file")
    check(attune.load(path), compute, 1, 2, 4)
    check(attune.load(path, cache=attune.CacheLimits(files=0)), compute, 1, 2, 4)
    assert len(imports) == 4


def test_records_that_have_changed_are_used(open_model, tmp_path, imports):
    path, compute = open_model
    records = tmp_path / "records.db"
    attune.load(path, shapes={"v1": [1, 64, 4]}).tune(trials=2, batch=2, records=records)
    for _ in range(2):
        check(attune.load(path).compile(records=records), compute, 1, 2, 4)
    assert len(imports) == 1
    attune.load(path, shapes={"v1": [1, 96, 4]}).tune(trials=2, batch=2, records=records)
    check(attune.load(path).compile(records=records), compute, 1, 2, 4)
    assert len(imports) == 2


def test_the_least_recently_used_goes_first(cache):
    files = CompiledFiles(attune.CacheLimits(files=2, disk_bytes=1000))
    for age, key in ((30, "a"), (20, "b")):
        files.put(key, b"artifact")
        os.utime(cache / key, (1000 - age, 1000 - age))
    assert files.get("a") == b"artifact"
    files.put("c", b"another")
    assert files.get("b") is None and files.get("a") and files.get("c") == b"another"
    files.put("d", bytes(950))
    assert sorted(path.name for path in cache.iterdir()) == ["d"]
    files.put("e", bytes(1000))
    assert files.get("e") is None and files.get("d")
    (cache / ".half").write_bytes(b"of a process that has died")
    os.utime(cache / ".half", (1, 1))
    files.put("f", b"artifact")
    assert not (cache / ".half").exists()


def test_memory_is_bounded_in_count_and_bytes():
    memory = CompiledInMemory(attune.CacheLimits(shapes=2, memory_bytes=100))
    made = []

    def get(key, size=10):
        return memory.get(key, lambda: made.append(key) or key, lambda _: size)

    for key in "abacab":
        get(key)
    assert made == list("abcb")
    get("d", 95)
    get("d")
    get("b")
    assert made == list("abcbdb")


def test_threads_compile_new_shapes_once(open_model, imports):
    path, compute = open_model
    network = attune.load(path)
    failures = []

    def work():
        try:
            check(network, compute, 2, 3, 4)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and len(imports) == 1


@pytest.mark.parametrize("error, others", [(attune.InvalidError("bad"), attune.InvalidError), (KeyboardInterrupt(), "made")])
def test_who_waits_shares_an_error_but_no_interrupt(error, others):
    memory = CompiledInMemory(attune.CacheLimits())
    begun, go = threading.Event(), threading.Event()
    results = {}

    def fail():
        begun.set()
        go.wait()
        raise error

    def get(name, make):
        try:
            results[name] = memory.get("key", make, lambda _: 1)
        except BaseException as raised:
            results[name] = type(raised)

    first = threading.Thread(target=get, args=("first", fail))
    first.start()
    begun.wait()
    waited = concurrent.futures.wait

    def wait(pending):
        go.set()
        waited(pending)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("concurrent.futures.wait", wait)
        get("second", lambda: "made")
    first.join()
    assert results == {"first": type(error), "second": others}


def test_processes_share_the_disk(open_model, tmp_path):
    path, _ = open_model
    code = (f"import attune, numpy; n = attune.load({str(path)!r})\n"
            "for length in (2, 3): print(n.run({'v1': numpy.ones((1, length, 4), 'float32')})['v4'].sum())")
    processes = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    texts = {process.communicate()[0] for process in processes}
    assert len(texts) == 1 and all(process.returncode == 0 for process in processes)


def test_works_after_a_fork(open_model):
    path, compute = open_model
    network = attune.load(path)
    check(network, compute, 1, 2, 4)
    child = os.fork()
    if child == 0:
        try:
            check(network, compute, 1, 2, 4)
            check(network, compute, 1, 3, 4)
            os._exit(0)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_a_model_that_changes_or_goes_is_noticed(open_model, each_shape):
    path, compute = open_model
    network = attune.load(path)
    check(network, compute, 1, 2, 4)
    os.utime(path, (1, 1))
    with pytest.raises(attune.InvalidError, match="has changed"):
        network.run({"v1": given(1, 3, 4)})
    path.unlink()
    with pytest.raises(attune.NotFoundError, match="open.onnx"):
        network.run({"v1": given(1, 3, 4)})
    check(network, compute, 1, 2, 4)


def test_files_beside_the_model_belong_to_it(tmp_path):
    (tmp_path / "model").write_bytes(b"model")
    digests = set()
    for content in (b"one", b"two"):
        (tmp_path / "weights").write_bytes(content)
        digests.add(ModelSource(tmp_path / "model").digest(["weights"]))
    digests.add(ModelSource(b"model").digest([]))
    assert len(digests) == 3


@pytest.mark.parametrize("inputs, words", [
    ({}, "no value for input \"v1\""),
    ({"v1": given(1, 2, 4), "x": given(1)}, "the inputs are v1"),
    ({"v1": given(1, 2, 5)}, "[1, 2, 5], and must be f32[batch,length,4]"),
    ({"v1": given(2, 4)}, "must be f32[batch,length,4]"),
    ({"v1": given(1, 2, 4).astype(float)}, "is float64[1, 2, 4]"),
    ({"v1": numpy.array([object()])}, "must be"),
])
def test_wrong_inputs_are_named(open_model, inputs, words):
    with pytest.raises(attune.InvalidError) as raised:
        attune.load(open_model[0]).run(inputs)
    assert words in str(raised.value)


def test_inputs_are_padded_to_buckets(open_model, imports):
    path, compute = open_model
    for pad_to in ([4, 8], {"length": [8, 4]}):
        imports.clear()
        network = attune.load(path, pad_to=pad_to, cache=attune.CacheLimits(files=0))
        for length in (1, 3, 4, 5, 9):
            check(network, compute, 2, length, 4)
        assert imports == [((2, size, 4),) for size in (4, 8, 9)]


@pytest.mark.parametrize("pad_to, words", [
    ({"width": [4]}, "the open dimensions are batch, length"),
    ({"length": []}, "give positive ones"),
    ({"length": [0]}, "give positive ones"),
])
def test_wrong_buckets_are_named(open_model, pad_to, words):
    with pytest.raises(attune.InvalidError) as raised:
        attune.load(open_model[0], pad_to=pad_to)
    assert words in str(raised.value)


class OnlyDlpack:
    """An array of a framework that NumPy does not know."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_arrays_of_other_frameworks_go_in_and_out(open_model):
    path, compute = open_model
    for network in (attune.load(path), attune.load(path, shapes={"v1": [1, 2, 4]})):
        outputs = network.run({"v1": OnlyDlpack(given(1, 2, 4))})
        numpy.testing.assert_allclose(numpy.from_dlpack(outputs["v4"]), compute(given(1, 2, 4)), atol=1e-5)
    with network.session() as session:
        session.run({"v1": OnlyDlpack(given(1, 2, 4))})
        assert numpy.from_dlpack(OnlyDlpack(session.outputs["v4"])).shape == (1, 2, 3)


def test_bf16_is_taken_as_its_bits():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(6, dtype=torch.bfloat16).reshape(2, 3)
    array = as_array("x", tensor)
    assert array.dtype == numpy.uint16 and array.ctypes.data == tensor.data_ptr()
    with pytest.raises(attune.InvalidError, match="\"x\""):
        as_array("x", tensor.to(torch.complex64).requires_grad_())
