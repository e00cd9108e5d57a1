"""Results of the benchmark, for tests."""
import json
import pathlib

from common import stats
from common.engines import PEERS
from tool_tests import run_module


def ran(milliseconds):
    return {"status": "ran", "format": "onnx", "load_s": 0.1, **stats.summary([[milliseconds]])}


def kernel(share, **values):
    return {"op": "conv+relu", "strategy": "conv_direct tile=3", "labels": ["/a/Conv", "/b/Conv"], "calls": 2,
            "ms": 1.0, "share": share, "flops": 1e8, "bytes": 1e6, "gflops_per_s": 100.0, "gb_per_s": 1.0,
            "bound": "compute", "roofline_ms": 0.8, **values}


def sample():
    """A results.json with every engine."""
    def run(threads, ours, theirs):
        profile = {"ms": 2.0, "gflop": 0.2, "threads": threads,
                   "peak": {"gflops_per_core": 120.0, "l2_gb_per_s": 200.0, "l3_gb_per_s": 50.0, "memory_gb_per_s": 20.0},
                   "kernels": [kernel(0.9), kernel(0.08, bound="L3", flops=1e5, gb_per_s=20.0 * threads + 1),
                               kernel(0.02, op="pool", bound="memory"),
                               kernel(0.0, op="copy", strategy="", labels=[], flops=0, bytes=0, bound="",
                                      roofline_ms=0)]}
        return {"threads": threads, "profile": profile, "engines": {
            "attune": ran(ours), "onnxruntime": ran(theirs), "openvino": ran(1.5 * theirs),
            "ncnn": {"status": "NS", "reason": "its tensors have no batch"},
            "mnn": {"status": "missing", "reason": "MNN is not installed: <none> & \"none\""},
            "litert": {"status": "not applicable", "reason": "takes .tflite alone"}}}
    compiled = {"seconds": 0.5, "kernels": 3, "bytes": {"file": 5_000_000}}
    cases = [{"name": name, "network": "net", "framework": "keras", "shape": [1], "standard": standard,
              "compile": compiled, "runs": [run(1, ours, 4.0), run(2, ours / 2, 2.0)]}
             for name, standard, ours in (("one", True, 2.0), ("<two>", True, 8.0), ("one-b8", False, 4.0))]
    return {"date": "2020-01-02T03:04:05+00:00", "command": "./do bench one",
            "settings": {"threads": [1, 2], "rounds": 5, "seconds": 1.0, "bf16": False, "peers": list(PEERS)},
            "machine": {"cpu": "A Processor", "cpu_family": 1, "cpu_model": 2, "instructions": ["avx2"],
                        "processors": 2, "caches": [{"level": 1, "type": "data", "bytes": 32768, "processors": 1}],
                        "memory_bytes": 1 << 30, "system": "An OS"},
            "attune": {"version": "0.1.0", "commit": "0123456789abcdef", "modified": True},
            "versions": {"onnxruntime": "1.0"}, "cases": cases}


def report_again(results, folder, *arguments):
    """Runs `bench ARGUMENTS --from` a file with the results, which writes to the folder. Returns how it ends and what
    it prints."""
    source = pathlib.Path(folder) / "old.json"
    source.write_text(json.dumps(results))
    return run_module("bench", *arguments, "--from", source, "--output", folder)
