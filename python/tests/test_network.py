"""The chain from a model to its outputs, and what it says when something is wrong."""
import hashlib
import os
import signal
import subprocess
import sys
import threading
import warnings

import numpy
import pytest
from onnx_writer import Model

import attune
from attune.onnxruntime import InferenceSession, backend


@pytest.fixture(scope="module")
def squeezenet():
    return attune.zoo("squeezenet1_1").compile(records="none")


@pytest.fixture
def image(squeezenet):
    return squeezenet.random_input("input", seed=3)


def test_steps_that_are_left_out_are_done(image):
    outputs = attune.zoo("squeezenet1_1").run({"input": image})
    assert outputs["output"].shape == (1, 1000)


def test_runs_what_onnxruntime_computes(squeezenet, image, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = tmp_path / "net.onnx"
    subprocess.run([os.environ["ATTUNE"], "zoo", "squeezenet1_1", "-o", model], check=True, capture_output=True)
    expected = onnxruntime.InferenceSession(str(model)).run(None, {"input": image})[0]
    numpy.testing.assert_allclose(attune.load(model).run({"input": image})["output"], expected, atol=1e-4, rtol=1e-3)


def test_saves_and_loads_an_artifact(squeezenet, image, tmp_path):
    squeezenet.save(tmp_path / "net.atn")
    loaded = attune.load(tmp_path / "net.atn")
    numpy.testing.assert_array_equal(loaded.run({"input": image})["output"], squeezenet.run({"input": image})["output"])
    assert loaded.inspect() == squeezenet.inspect()


def by_command(*arguments):
    return subprocess.run([os.environ["ATTUNE"], *arguments], check=True, capture_output=True, text=True).stdout.strip()


def test_only_what_a_trusted_key_has_signed_runs(squeezenet, image, tmp_path):
    path, expected = tmp_path / "net.atn", squeezenet.run({"input": image})["output"]
    squeezenet.save(path)
    keys = []
    for name in ("one", "other"):
        by_command("key", "create", tmp_path / name)
        keys.append(by_command("key", "show", tmp_path / f"{name}.pub"))
    ways = (lambda trusted: attune.load(path, trusted_keys=trusted).run({"input": image})["output"],
            lambda trusted: attune.load(path.read_bytes(), trusted_keys=trusted).run({"input": image})["output"],
            lambda trusted: attune.load(path, shapes={"input": image.shape}, trusted_keys=trusted).session().run(
                {"input": image})["output"],
            lambda trusted: InferenceSession(path, trusted_keys=trusted).run(None, {"input": image})[0],
            lambda trusted: backend.prepare(path.read_bytes(), trusted_keys=trusted).run(image)[0])
    for way in ways:
        numpy.testing.assert_array_equal(way(None), expected)
        with pytest.raises(attune.InvalidError, match="is not signed"):
            way(keys)
        with pytest.raises(attune.InvalidError, match="trusted_keys: takes a list of keys"):
            way([])
    by_command("sign", path, "--key", tmp_path / "one")
    for way in ways:
        numpy.testing.assert_array_equal(way(keys), expected)
        with pytest.raises(attune.InvalidError, match="not a trusted key"):
            way(keys[1:])
    with pytest.raises(attune.InvalidError, match="is loaded already"):
        backend.prepare(InferenceSession(path), trusted_keys=keys)


def test_what_was_loaded_runs_whatever_becomes_of_its_file(squeezenet, image, tmp_path):
    path = tmp_path / "net.atn"
    squeezenet.save(path)
    loaded = attune.load(path, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    path.write_bytes(b"another file")
    numpy.testing.assert_array_equal(loaded.run({"input": image})["output"], squeezenet.run({"input": image})["output"])


def test_a_session_works_in_its_own_memory(squeezenet, image):
    session = squeezenet.session()
    session.inputs["input"][...] = image
    copies = session.run()
    views = session.outputs
    numpy.testing.assert_array_equal(views["output"], copies["output"])
    address = views["output"].ctypes.data
    del session
    assert views["output"].ctypes.data == address  # the array keeps the session
    assert not views["output"].flags.writeable


def test_a_closed_session_says_so(squeezenet, image):
    with squeezenet.session() as session:
        session.run({"input": image})
        views = session.outputs
    for call in (session.run, lambda: session.outputs):
        with pytest.raises(attune.InvalidError, match="is closed"):
            call()
    session.close()
    assert numpy.isfinite(views["output"]).all()


def test_arrays_of_any_layout_are_taken(squeezenet, image):
    expected = squeezenet.run({"input": image})["output"]
    strided = numpy.asfortranarray(image)
    numpy.testing.assert_array_equal(squeezenet.run({"input": strided})["output"], expected)


def test_threads_run_at_once(squeezenet):
    images = [squeezenet.random_input("input", seed) for seed in range(4)]
    expected = [squeezenet.run({"input": image})["output"] for image in images]
    results = [None] * len(images)

    def work(index):
        for _ in range(5):
            results[index] = squeezenet.run({"input": images[index]})["output"]

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(images))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result, wanted in zip(results, expected):
        numpy.testing.assert_array_equal(result, wanted)


def test_works_after_a_fork(squeezenet, image):
    expected = squeezenet.run({"input": image}, threads=2)["output"]
    child = os.fork()
    if child == 0:
        try:
            same = numpy.array_equal(squeezenet.run({"input": image}, threads=2)["output"], expected)
            os._exit(0 if same else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_quantizes(squeezenet, image, tmp_path):
    quantized = attune.zoo("squeezenet1_1").quantize(squeezenet.random_input("input", seed) for seed in range(4))
    assert "quantized" in repr(quantized)
    result = quantized.quantization
    assert 0 < result["agreement"] <= 1 and result["quantized_seconds"] > 0
    assert ("slower than fp32" in result["verdict"]) == result["is_slower"]
    quantized.save(tmp_path / "net8.onnx")
    assert quantized.inspect()["file_bytes"] < squeezenet.inspect()["file_bytes"] / 2


@pytest.mark.parametrize("is_slower", [False, True])
def test_quantizing_warns_if_integers_are_slower(open_model, monkeypatch, is_slower):
    verdict = "quantized, one inference takes 1.110 ms instead of 0.960 in fp32: int8 is slower than fp32 on this processor"
    figures = {"agreement": 1.0, "baseline_seconds": 0.96e-3, "quantized_seconds": 1.11e-3, "is_slower": is_slower, "verdict": verdict}
    monkeypatch.setattr(attune.Network, "quantization", property(lambda network: figures))
    sample = numpy.ones((1, 2, 4), numpy.float32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        attune.load(open_model[0], shapes={"v1": [1, 2, 4]}).quantize([sample])
        attune.load(open_model[0]).quantize([sample]).at({"v1": [1, 2, 4]})
    assert [(str(warning.message), warning.filename) for warning in caught] == 2 * is_slower * [(verdict, __file__)]


def test_tunes(tmp_path):
    tuned = attune.zoo("squeezenet1_1").tune(trials=4, batch=4, records=tmp_path / "records.db")
    assert tuned.tuning["trials"] >= 4
    assert all(check["ok"] for check in tuned.verify())


@pytest.fixture(scope="module")
def few_values(tmp_path_factory):
    """A model whose weights have few values, so that they can be stored in fewer bytes."""
    path, model = tmp_path_factory.mktemp("models") / "few_values.onnx", Model()
    weights = numpy.where(model.random.uniform(size=(64, 64)) < 0.5, 0.5, -1).astype(numpy.float32)
    product = model.node("MatMul", model.input(8, 64), model.constant(weights))
    model.write(path, model.node("Relu", product), shape=(8, 64))
    return path


@pytest.mark.parametrize("seed", range(6))
def test_no_step_loses_what_another_one_was_told(few_values, tmp_path, seed):
    draw, network = numpy.random.default_rng(seed), attune.load(few_values)
    told = {"threads": 1, "weights": "fp32", "compact": False}
    for step in ["compile", *draw.choice(["optimize", "compile", "tune", "on"], size=4)]:
        threads = int(draw.integers(1, 4))
        if step == "optimize":
            told["weights"] = str(draw.choice(["fp32", "fp16"]))
            network = network.optimize(weights=told["weights"])
        elif step == "compile":
            told["compact"], names_threads = bool(draw.integers(2)), bool(draw.integers(2))
            told["threads"] = threads if names_threads else told["threads"]
            network = network.compile(compact=told["compact"], **({"threads": threads} if names_threads else {}))
        elif step == "tune":
            told["threads"] = threads
            network = network.tune(trials=1, batch=2, threads=threads, records=tmp_path / "records.db")
            assert network.tuning["threads"] == threads
        else:
            network = network.on(attune.Device.here())
        sizes = network.inspect()
        is_small = sizes["stored_weight_bytes"] < sizes["weight_bytes"]
        assert (network._core.threads(), is_small) == (
            told["threads"], told["compact"] or told["weights"] == "fp16"), (step, told)
        assert len(network.bench(seconds=0.001)) >= 3


@pytest.fixture
def neighbour():
    """A program that wants the processor of this thread, to which both are bound."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    with subprocess.Popen([sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield
        process.kill()
    os.sched_setaffinity(0, before)


def test_measurements_on_a_busy_machine_warn(squeezenet, neighbour):
    for measure in (lambda: squeezenet.bench(0.2), lambda: squeezenet.profile(40)):
        with pytest.warns(UserWarning, match=r"^the machine is busy: in \d.* the times are too long; end other programs") as caught:
            measure()
        assert caught[0].filename == __file__


def test_measurements_that_nothing_disturbs_do_not_warn(squeezenet, monkeypatch):
    class Quiet:
        def bench(self, *_):
            return [1.0, 1.5], ""

        def profile(self, *_):
            return [], ""

    monkeypatch.setattr(attune.Network, "_compiled_core", lambda network: Quiet())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert squeezenet.bench() == [1.0, 1.5] and squeezenet.profile() == []


def test_a_profile_is_a_table(squeezenet):
    profile = squeezenet.profile(rounds=1)
    assert "GFLOP/s" in str(profile)
    assert profile._repr_html_().count("<tr>") == len(profile) + 1
    assert sum(row["share"] for row in profile) == pytest.approx(1)


@pytest.mark.parametrize("inputs, words", [
    ({}, "no value for input \"input\""),
    ({"output": numpy.zeros(1)}, "the inputs are input"),
    ({"input": numpy.zeros((1, 3, 224, 224))}, "must be float32"),
    ({"input": numpy.zeros((3, 224, 224), numpy.float32)}, "must be float32[1, 3, 224, 224]"),
    ({"input": numpy.array([object()])}, "object"),
])
def test_wrong_inputs_are_named(squeezenet, inputs, words):
    with pytest.raises(attune.InvalidError) as raised:
        squeezenet.run(inputs)
    assert words in str(raised.value)


def test_an_index_out_of_range_is_an_error(words, tmp_path):
    network = attune.load(words).compile()
    right, wrong = numpy.array([0, -4, 3]), numpy.array([0, 4, 3])
    network.save(tmp_path / "words.atn")
    for loaded in network, attune.load(tmp_path / "words.atn"):
        with pytest.raises(attune.InvalidError, match="gather \"Gather_v3\": index 4 is outside an axis of size 4"):
            loaded.run({"v1": wrong})
        assert loaded.run({"v1": right})["v3"].tolist() == [[0, 1], [0, 1], [6, 7]]
    session = network.session(threads=2)
    session.inputs["v1"][...] = wrong
    with pytest.raises(attune.InvalidError, match="index 4"):
        session.run()
    session.inputs["v1"][...] = right
    session.run()
    clamped = attune.load(words).optimize(unchecked_indices=True)
    assert clamped.run({"v1": wrong})["v3"].tolist() == [[0, 1], [6, 7], [6, 7]]


def test_errors_are_of_the_right_kind(tmp_path):
    with pytest.raises(attune.NotFoundError, match="none.onnx"):
        attune.load(tmp_path / "none.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"\x08\x07garbage")
    with pytest.raises(ValueError, match="bad.onnx"):
        attune.load(tmp_path / "bad.onnx")
    with pytest.raises(attune.InvalidError, match="fp64"):
        attune.zoo("squeezenet1_1").optimize(precision="fp64")
    with pytest.raises(attune.InvalidError, match="is not tuned"):
        attune.zoo("squeezenet1_1").tuning
    with pytest.raises(attune.InvalidError, match="compiled already"):
        network = attune.zoo("squeezenet1_1").compile().save(tmp_path / "net.atn")
        attune.load(tmp_path / "net.atn").optimize()


def test_a_model_in_memory_is_loaded(image, tmp_path):
    class Proto:
        def SerializeToString(self):
            return model.read_bytes()

    model = tmp_path / "net.onnx"
    subprocess.run([os.environ["ATTUNE"], "zoo", "squeezenet1_1", "-o", model], check=True, capture_output=True)
    assert attune.load(Proto()).run({"input": image})["output"].shape == (1, 1000)


def test_ctrl_c_ends_a_long_call(tmp_path):
    code = ("import attune, sys\n"
            "try:\n"
            "    print('begins', flush=True)\n"
            f"    attune.zoo('resnet18').tune(records={str(tmp_path / 'records.db')!r})\n"
            "except KeyboardInterrupt:\n"
            "    print('ended', flush=True)\n")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begins\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "ended\n"
        assert process.wait() == 0


def test_its_own_python_exceptions_come_through(monkeypatch):
    def fail(*_):
        raise RuntimeError("from the progress")

    monkeypatch.setattr("attune._progress.Line.step", fail)
    with pytest.raises(RuntimeError, match="from the progress"):
        attune.zoo("resnet18").compile()
