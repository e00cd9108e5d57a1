"""The table of a sweep, with types."""
import os
import subprocess
import sys

import pytest

import attune

TABLE = (
    "run,repeat,tune.batch,model,tune.cold,bench.seconds,seed,state,error,median_ms,num_trials,artifact_bytes,attune_version\r\n"
    "00000000000000000000000000000001,1,16,\"a, b\",true,0.5,18446744073709551615,done,,1.25,64,1000,0.1.0\r\n"
    "00000000000000000000000000000002,1,,\"a, b\",false,2,1,failed,\"bench: no \"\"x\"\"\",,,,0.1.0\r\n")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "results.csv").write_text(TABLE, newline="")
    return tmp_path


def test_values_have_their_types(folder):
    results = attune.sweeps.read(folder)
    assert results[0] == {
        "run": "00000000000000000000000000000001", "repeat": 1, "tune.batch": 16, "model": "a, b", "tune.cold": True,
        "bench.seconds": 0.5, "seed": "18446744073709551615", "state": "done", "error": None, "median_ms": 1.25,
        "num_trials": 64, "artifact_bytes": 1000, "attune_version": "0.1.0"}
    assert results.columns["tune.batch"] == [16, None]
    assert results.columns["error"] == [None, "bench: no \"x\""]
    assert results.columns["bench.seconds"] == [0.5, 2.0] and type(results[1]["bench.seconds"]) is float
    assert attune.sweeps.read(folder / "results.csv") == results


def test_a_sweep_without_runs_has_its_columns(tmp_path):
    (tmp_path / "results.csv").write_text("run,repeat,state,median_ms\r\n", newline="")
    assert attune.sweeps.read(tmp_path).columns == {"run": [], "repeat": [], "state": [], "median_ms": []}


@pytest.mark.parametrize("text, words", [
    ("", "does not begin with the columns run and repeat"),
    ("a,b\r\n1,2\r\n", "does not begin with the columns run and repeat"),
    ("run,repeat\r\n1\r\n", "row 2 has 1 fields, and the header has 2"),
    ("run,repeat,median_ms\r\n1,1,fast\r\n", "median_ms: \"fast\" is not a number"),
    ("run,repeat\r\n\"1,1\r\n", "is not a table of a sweep"),
    ("\xff", "is not a table of a sweep"),
])
def test_what_is_no_table_says_so(tmp_path, text, words):
    file = tmp_path / "table.csv"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(attune.InvalidError, match="table.csv") as raised:
        attune.sweeps.read(file)
    assert words in str(raised.value)


def test_a_folder_without_results_says_so(tmp_path):
    with pytest.raises(attune.NotFoundError, match="results.csv: there is no such file"):
        attune.sweeps.read(tmp_path)


def test_without_pyarrow_it_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(attune.UnavailableError, match="pip install pyarrow"):
        attune.sweeps.read(folder).to_parquet(folder / "results.parquet")
    assert [path.name for path in folder.iterdir()] == ["results.csv"]


def test_parquet_has_the_same_table(folder):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet
    results = attune.sweeps.read(folder)
    results.to_parquet(folder / "results.parquet")
    table = parquet.read_table(folder / "results.parquet")
    assert table.to_pylist() == list(results)
    assert [str(field.type) for field in table.schema][:6] == ["string", "int64", "int64", "string", "bool", "double"]
    assert sorted(path.name for path in folder.iterdir()) == ["results.csv", "results.parquet"]


def test_reads_what_the_program_writes(tmp_path):
    (tmp_path / "sweep.yaml").write_text(
        "commands: [compile, bench]\n"
        "options: {threads: 1, bench.seconds: 0.01, model: net.onnx}\n"
        "product: {compile.weights: [fp32, fp16]}\n")
    attune_program = os.environ["ATTUNE"]
    subprocess.run([attune_program, "zoo", "squeezenet1_1", "-o", tmp_path / "net.onnx"], check=True, capture_output=True)
    subprocess.run([attune_program, "sweep", tmp_path / "sweep.yaml"], check=True, capture_output=True)
    results = attune.sweeps.read(tmp_path / "sweep.sweep")
    assert results.columns["compile.weights"] == ["fp32", "fp16"]
    assert results.columns["state"] == ["done", "done"]
    assert all(row["fastest_ms"] <= row["median_ms"] for row in results)
    assert results[0]["artifact_bytes"] > results[1]["artifact_bytes"]
