"""The chain of a tuning study, its order, and its saved state."""
import json
import pathlib
import sqlite3

import numpy
import pytest

import attune

MODEL = str(pathlib.Path(__file__).resolve().parents[2] / "tests/fuzz/corpus/onnx_import/conv_pool.onnx")  # x to y


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A tuner that has tuned, built, evaluated and saved."""
    context = attune.BenchmarkingContext(workspace=tmp_path_factory.mktemp("workspace"))
    tuner = attune.Tuner(context).from_model(MODEL, output_size=8).autotune(trials=2, batch=8).build()
    tuner.evaluate(seconds=0.01)
    tuner.save()
    return tuner


def context_like(study, **others):
    return attune.BenchmarkingContext(workspace=study.context.workspace, **others)


def test_a_run_keeps_what_it_has_made(study):
    context = study.context
    assert len(context.run_id) == 32
    saved = json.loads((context.folder / "context.json").read_text())
    assert [step["name"] for step in saved["steps"]] == ["from_model", "autotune", "build", "evaluate"]
    assert saved["tuning"]["trials"] > 0 and saved["tuning"]["stage_seconds"]["time"] > 0
    assert saved["evaluation"]["runs"] >= 3
    events = (context.folder / "log.jsonl").read_text().splitlines()
    assert len(events) > 1 and all(json.loads(event) for event in events)
    of_job, of_all, best = (records(path) for path in (context.folder / "records.db", context.workspace / "all.db",
                                                       context.workspace / "best.db"))
    assert best <= of_job == of_all > 0


def records(path):
    with sqlite3.connect(path) as database:
        return database.execute("SELECT count(*) FROM records").fetchone()[0]


def test_a_module_is_loaded_by_its_run(study):
    image = attune.load(MODEL).random_input("x", seed=3)
    loaded = attune.Tuner(context_like(study)).load(study.context.run_id)
    for given in (image, [image], {"x": image}):
        numpy.testing.assert_array_equal(loaded.run(given), study.run(image))
    assert loaded.evaluate(seconds=0.01).mean_ms > 0


def test_the_next_job_uses_the_records_or_one_job_alone(study):
    for job in ("", study.context.run_id):
        tuner = attune.Tuner(context_like(study)).from_model(MODEL).build(from_job=job)
        assert tuner.run(numpy.zeros((1, 2, 4, 4), numpy.float32)).shape == (1, 8)


@pytest.mark.parametrize("transfer", [True, False])
def test_earlier_jobs_count_if_they_may(study, transfer):
    tuner = attune.Tuner(context_like(study)).from_model(MODEL).autotune(trials=1, transfer=transfer)
    assert any(task["transferred_trials"] for task in tuner.context.facts["tuning"]["tasks"]) == transfer


def test_what_one_step_is_told_the_next_ones_follow(study):
    def started():
        return attune.Tuner(context_like(study)).from_model(MODEL, output_name="y", output_size=8)

    tuner = started().autotune(trials=1, batch=2, threads=3).build()
    assert tuner._built._core.threads() == 3
    tuner.evaluate(seconds=0.01)
    assert tuner.context.facts["evaluation"]["threads"] == 3
    loaded = attune.Tuner(context_like(study)).load(tuner.save())
    assert loaded.run(numpy.zeros((1, 2, 4, 4), numpy.float32)).shape == (1, 8)
    loaded.evaluate(seconds=0.01)
    assert loaded.context.facts["evaluation"]["threads"] == 3
    assert started().build(from_job=tuner.context.run_id)._built._core.threads() == 3
    # The latest call counts.
    assert started().autotune(trials=1, batch=2, threads=3).build(threads=2)._built._core.threads() == 2
    assert started().build(from_job=tuner.context.run_id, threads=2)._built._core.threads() == 2
    assert started().build()._built._core.threads() == 1
    loaded.evaluate(seconds=0.01, threads=1)
    assert loaded.context.facts["evaluation"]["threads"] == 1


def test_a_model_is_also_a_name_of_the_zoo(study):
    assert attune.Tuner(context_like(study)).from_model("squeezenet1_1").context.facts["model"]["source"] == "squeezenet1_1"
    with pytest.raises(attune.Error, match="alexnot"):
        attune.Tuner(context_like(study)).from_model("alexnot")
    with pytest.raises(attune.InvalidError, match="take no shapes"):
        attune.Tuner(context_like(study)).from_model("squeezenet1_1", shapes={"input": (2, 3, 224, 224)})


@pytest.mark.parametrize("calls, words", [
    (lambda tuner: tuner.autotune(), r"autotune\(\): .* call from_model\(\) first"),
    (lambda tuner: tuner.build(), r"build\(\): .* call from_model\(\) first"),
    (lambda tuner: tuner.run([]), r"run\(\): nothing is built yet; call from_model\(\) and build\(\)"),
    (lambda tuner: tuner.from_model(MODEL).evaluate(), r"evaluate\(\): .* call build\(\) first"),
    (lambda tuner: tuner.from_model(MODEL).save(), r"save\(\): .* call build\(\) first"),
    (lambda tuner: tuner.from_model(MODEL).from_model(MODEL), "has a model already"),
    (lambda tuner: tuner.from_model(MODEL).load("0" * 32), "has a model already"),
    (lambda tuner: tuner.from_model(MODEL).build().autotune(), r"autotune\(\): .* built already"),
])
def test_the_order_is_enforced(tmp_path, calls, words):
    with pytest.raises(attune.InvalidError, match=words):
        calls(attune.Tuner(attune.BenchmarkingContext(workspace=tmp_path)))


def test_wrong_arguments_are_named(study):
    with pytest.raises(attune.InvalidError, match="tpu"):
        attune.BenchmarkingContext(target="tpu")
    with pytest.raises(attune.InvalidError, match="device_key"):
        attune.Tuner(context_like(study), server="127.0.0.1:9190")
    with pytest.raises(attune.NotFoundError, match="no run"):
        attune.Tuner(context_like(study)).load("f" * 32)
    with pytest.raises(attune.NotFoundError, match="no job"):
        attune.Tuner(context_like(study)).from_model(MODEL).build(from_job="f" * 32)
    elsewhere = "x86-64-v3" if attune.Device.here().cpu != "x86-64-v3" else "x86-64-v4"
    with pytest.raises(attune.InvalidError, match="cpu_arch"):
        attune.Tuner(context_like(study, cpu_arch=elsewhere)).from_model(MODEL).autotune()
    built = attune.Tuner(context_like(study)).from_model(MODEL, output_name="none").build()
    with pytest.raises(attune.InvalidError, match="the outputs are y"):
        built.run(numpy.zeros((1, 2, 4, 4), numpy.float32))
    with pytest.raises(attune.InvalidError, match="1 inputs, and 2 are given"):
        built.run([numpy.zeros(1), numpy.zeros(1)])


def test_another_device_is_refused(study):
    path = study.context.folder / "context.json"
    kept = path.read_text()
    path.write_text(kept.replace(attune.Device.here().fingerprint, "board"))
    try:
        with pytest.raises(attune.InvalidError, match="made for the device \"board\""):
            attune.Tuner(context_like(study)).load(study.context.run_id)
        path.write_text("{")
        with pytest.raises(attune.InvalidError, match="is damaged"):
            attune.Tuner(context_like(study)).load(study.context.run_id)
    finally:
        path.write_text(kept)


def test_a_device_that_no_fleet_has_is_not_found(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTUNE_FLEET", str(tmp_path))
    monkeypatch.setenv("ATTUNE_SERVER", str(tmp_path))
    with pytest.raises(attune.NotFoundError, match="attune fleet join"):
        attune.Device.in_fleet("desk")
