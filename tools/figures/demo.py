"""Compiles two real networks and shows their results: ./do demo runs it."""
import json
import statistics
import subprocess
import sys
import time

import numpy

from common.program import ROOT, Failed, attune, attune_json, measure, onnxruntime_session, print_table

FOLDER = ROOT / "build/demo"

MAGIKA = "magika==1.0.3"  # a file type detector; its wheel holds the trained network

FILES = [
    "do",
    "CMakeLists.txt",
    "CMakePresets.json",
    "README.md",
    "LICENSE",
    ".clang-format",
    "docs/examples/run_model.c",
    "include/attune/attune.hpp",
    "src/graph/graph.cc",
    "src/import/onnx/onnx.proto",
    "src/codegen/fit_math.py",
    "tools/figures/demo.py",
]


def fetch_magika():
    """The folder of the network in the package."""
    target = FOLDER / MAGIKA.replace("==", "-")
    if not target.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-deps", "--target", str(target), MAGIKA], check=True)
    return next(target.glob("magika/models/standard_*"))


def features(content, config):
    """The input of the network: the first and the last bytes of a file, without the white space around them."""
    block, padding = config["block_size"], config["padding_token"]
    first, last = content[:block].lstrip(), content[-block:].rstrip()
    first, last = first[:config["beg_size"]], last[-config["end_size"]:]
    return ([*first] + [padding] * (config["beg_size"] - len(first)) +
            [padding] * (config["end_size"] - len(last)) + [*last])


def name_file_types():
    """Names the types of this repository's files. Returns whether onnxruntime agrees on all of them."""
    folder = fetch_magika()
    config = json.loads((folder / "config.min.json").read_text())
    labels = FOLDER / "file_types.txt"
    labels.write_text("\n".join(config["target_labels_space"]) + "\n")
    artifact = FOLDER / "magika.atn"
    compiled = attune_json("compile", folder / "model.onnx", "-o", artifact, "--shape", "bytes=1x2048")
    print(f"magika, which names the type of a file: {compiled['kernels']} kernels, "
          f"{compiled['bytes']['file'] / 1e6:.1f} MB, compiled in {compiled['seconds']['total']:.1f} s\n")

    session = onnxruntime_session(folder / "model.onnx")
    rows = [["file", "type", "probability", "onnxruntime", "difference"]]
    agree = True
    for name in FILES:
        tokens = numpy.array([features((ROOT / name).read_bytes(), config)], dtype=numpy.int32)
        numpy.save(FOLDER / "tokens.npy", tokens)
        result = attune_json("run", artifact, "--input", FOLDER / "tokens.npy", "--labels", labels, "--top", 1)
        output = result["outputs"][0]
        best = output["top"][0]
        expected = session.run(None, {"bytes": tokens})[0].ravel()
        difference = numpy.abs(numpy.array(output["values"]) - expected).max()
        agrees = best["index"] == expected.argmax() and difference < 1e-3
        agree = agree and bool(agrees)
        rows.append([name, best["label"], f"{best['value']:.4f}", "agrees" if agrees else "DIFFERS",
                     f"{difference:.1e}"])
    print_table(rows)
    return agree


def compare_speed(name="mobilenet_v2", seconds=2.0):
    """Prints a table for a network from the zoo. Returns whether all of its rows are right."""
    model = FOLDER / f"{name}.onnx"
    attune("zoo", name, "-o", model)
    plain = FOLDER / "plain.plan"
    plain.write_text("# Each operator by itself.\nfuse epilogues=0 prologues=0\n")
    entry = next(e for e in attune_json("zoo")["networks"] if e["name"] == name)
    gflop = 2e-9 * entry["macs"]

    rows = [[name, "to compile", "latency", "GFLOP/s", "largest error"]]

    def add(label, compile_seconds, latency, error):
        rows.append([label, f"{compile_seconds:.2f} s", f"{latency:.2f} ms", f"{1e3 * gflop / latency:.1f}", error])

    right = True
    for label, flags in (("attune, plain graph", ["--passes", plain]), ("attune, optimized", [])):
        artifact = FOLDER / f"{name}.atn"
        compiled = attune_json("compile", model, "-o", artifact, *flags)
        report = attune_json("verify", model, *flags)
        bench = attune_json("bench", artifact, "--threads", 1, "--seconds", seconds)
        right = right and report["ok"]
        add(label, compiled["seconds"]["total"], statistics.median(bench["latency_ms"]),
            f"{max(o['max_absolute_error'] for o in report['outputs']):.1e}")

    # The last artifact is the optimized one: how far apart are the results of both engines for one input?
    declared = onnxruntime_session(model).get_inputs()[0]
    image = numpy.random.default_rng(0).standard_normal(declared.shape, dtype=numpy.float32)
    numpy.save(FOLDER / "image.npy", image)
    start = time.perf_counter()
    session = onnxruntime_session(model)
    load = time.perf_counter() - start
    expected = session.run(None, {declared.name: image})[0]
    latency = statistics.median(measure(session, {declared.name: image}, seconds))
    attune("run", artifact, "--input", FOLDER / "image.npy", "--output", FOLDER / "outputs")
    actual = numpy.load(next((FOLDER / "outputs").glob("*.npy")))
    difference = numpy.abs(actual - expected).max()
    add("onnxruntime", load, latency, f"{difference:.1e} *")
    print(f"{name} from the zoo, fp32, one thread, {gflop:.2f} GFLOP\n")
    print_table(rows)
    print("  Errors of attune are those against its reference, which accumulates in double.")
    print("  * The largest difference between onnxruntime and attune.\n")
    return right and difference < 1e-3 * max(1.0, numpy.abs(expected).max())


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        agree = name_file_types()
        right = compare_speed()
    except Failed as error:
        print(error, file=sys.stderr)
        return 1
    if not (agree and right):
        print("demo: the numbers do not agree, see above", file=sys.stderr)
        return 1
    print(f"The artifacts are in {FOLDER.relative_to(ROOT)}/; try: build/release/bin/attune profile "
          f"{FOLDER.relative_to(ROOT)}/mobilenet_v2.atn")
    return 0


if __name__ == "__main__":
    sys.exit(main())
