"""Shared parts of tests: small models, and a folder of their own for compiled networks."""
import pathlib
import sys

import numpy
import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "end_to_end"))
from onnx_writer import Model  # noqa: E402


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    """The folder of the compiled networks."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "attune" / "compiled"


@pytest.fixture
def words(tmp_path):
    """A model of ids v1 int64[3] and rows of a table of four words, v3[3,2]."""
    model = Model()
    ids = model.input(3, dtype="int64")
    table = model.constant(numpy.arange(8, dtype=numpy.float32).reshape(4, 2))
    model.write(tmp_path / "words.onnx", model.node("Gather", table, ids, axis=0), shape=(3, 2))
    return tmp_path / "words.onnx"


@pytest.fixture
def open_model(tmp_path):
    """A model of an input v1[batch,length,4] and an output v5[batch,length,3], and what it computes."""
    model = Model()
    weights = model.random.standard_normal((4, 3)).astype(numpy.float32)
    given = model.input("batch", "length", 4)
    product = model.node("MatMul", given, model.constant(weights))
    model.write(tmp_path / "open.onnx", model.node("Relu", product), shape=("batch", "length", 3), metadata={"key": "text"})
    return tmp_path / "open.onnx", lambda array: numpy.maximum(array @ weights, 0)
