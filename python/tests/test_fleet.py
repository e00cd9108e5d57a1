"""A device of a fleet: a server and an agent on this machine."""
import pathlib
import sys

import numpy
import pytest

import attune

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = str(ROOT / "tests/fuzz/corpus/onnx_import/conv_pool.onnx")  # x to y

sys.path.append(str(ROOT / "tools"))
from common.fleet_members import KEY, Fleet  # noqa: E402
from common.program import PROGRAM  # noqa: E402


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    with Fleet(tmp_path_factory.mktemp("fleet"), PROGRAM, lease_seconds=15) as members:
        members.add_agent("agent", KEY)
        yield members


def test_a_network_runs_there_as_it_does_here(fleet):
    network = attune.zoo("squeezenet1_1")
    image = network.random_input("input", seed=3)
    there = network.on(KEY)
    numpy.testing.assert_array_equal(there.run({"input": image})["output"], network.run({"input": image})["output"])
    assert len(there.bench(seconds=0.01)) >= 3
    assert all(check["ok"] for check in there.verify())
    assert there.profile()[0]["seconds"] > 0


def test_a_study_tunes_there(fleet, tmp_path):
    context = attune.BenchmarkingContext(device_key=KEY, workspace=tmp_path)
    tuner = attune.Tuner(context, server=fleet.await_server()[0]).from_model(MODEL)
    run = tuner.autotune(trials=1).build().save()
    assert context.facts["tuning"]["trials"] > 0
    image = attune.load(MODEL).random_input("x", seed=3)
    loaded = attune.Tuner(attune.BenchmarkingContext(device_key=KEY, workspace=tmp_path)).load(run)
    numpy.testing.assert_array_equal(loaded.run(image), tuner.run(image))


def test_what_no_fleet_has_is_named(fleet):
    with pytest.raises(attune.NotFoundError, match="no-such-key"):
        attune.load("net.onnx", device="no-such-key")
    with pytest.raises(attune.InvalidError, match="attune fleet join"):
        attune.Device.in_fleet(KEY, server="127.0.0.1:1")
