#!/usr/bin/env python3
"""check_contractions.py zoo|trained|small    convolutions, matrix products and attention have kernels made for them

Plans networks of the zoo (at reduced width if they are large), trained networks, and small ones with one contraction
each, for AVX2 and for AVX-512; generates no code. Contractions that run by loops, the strategy that applies everywhere,
may take 1 % of a network's multiply-adds. slow_contractions.txt lists those beyond that, and no others.
"""
import pathlib
import sys
import tempfile

import numpy

from checks import MODELS, end_to_end, need
from common.program import attune_json
from compiler.compile_zoo import write_network, zoo
from onnx_writer import Model
from small_contractions import CASES

CPUS = ["x86-64-v3", "znver4"]
LIST = pathlib.Path(__file__).with_name("slow_contractions.txt")
LARGEST_SHARE = 0.01  # of a network's multiply-adds

# The shapes of inputs that trained networks leave open, and values that decide what they compute.
INPUTS = {
    "onnx/all-MiniLM-L6-v2_int8.onnx": {"input_ids": "1x16", "attention_mask": "1x16", "token_type_ids": "1x16"},
    "onnx/basic_pitch_nmp.onnx": {"serving_default_input_2:0": "1x43844x1"},
    "onnx/candy.onnx": {"inputImage": "1x3x720x720"},
    "onnx/ch_PP-OCRv4_det_infer.onnx": {"x": "1x3x320x320"},
    "onnx/ch_ppocr_mobile_v2.0_cls_infer.onnx": {"x": "1x3x48x192"},
    "onnx/magika_standard_v3_3.onnx": {"bytes": "1x2048"},
    "onnx/silero_vad.onnx": {"input": "1x576", "state": "2x1x128", "sr": numpy.int64(16000)},
    "onnx/super_resolution_10/model.onnx": {"input": "1x1x224x224"},
    "onnx/swift_f0.onnx": {"audio": "1x16000"},
    "onnx/yunet_n_dynamic.onnx": {"input": "1x3x192x256"},
    "tf/ESPCN_x2.pb": {"IteratorGetNext": "1x24x32x1"},
    "tf/ESPCN_x3.pb": {"IteratorGetNext": "1x24x32x1"},
    "tf/FSRCNN_x2.pb": {"IteratorGetNext": "1x24x32x1"},
    "tf/basic_pitch_savedmodel": {"input_2": "1x43844x1"},
    "tf/fc-layers_frozen.pb": {"X": "1x784"},
    "tf/gru_frozen.pb": {"X": "1x784", "keep_prob": numpy.float32(1)},
    "tf/lstm_frozen.pb": {"X": "1x784", "keep_prob": numpy.float32(1)},
}

# Trained networks with operators that the compiler does not support.
NOT_SUPPORTED = ["onnx/pt_super_resolution_with_pre_post_processing_opset16.onnx",
                 "tflite/audio_preprocessor_int8.tflite"]


def arguments_of(inputs, folder):
    for name, given in inputs.items():
        if isinstance(given, str):
            yield from ("--shape", f"{name}={given}")
        else:
            path = folder / f"{name}.npy"
            numpy.save(path, given)
            yield from ("--input", f"{name}={path}")


def zoo_networks(folder):
    """Yields (name, file, further arguments) for each network, like the functions below. A file exists until the next
    one is requested."""
    for name in zoo():
        model = write_network(name, folder, small=True)
        yield name, model, []
        model.unlink()


def trained_networks(folder):
    models = need(MODELS)
    files = [*models.glob("onnx/**/*.onnx"), *models.glob("tflite/*.tflite"), *models.glob("tf/*.pb")]
    for path in sorted([*files, models / "tf/basic_pitch_savedmodel"]):
        name = path.relative_to(models).as_posix()
        if name not in NOT_SUPPORTED:
            yield name, path, [*arguments_of(INPUTS.get(name, {}), folder)]


def small_networks(folder):
    for name, build in CASES.items():
        model, path = Model(), folder / f"{name}.onnx"
        model.write(path, *build(model))
        yield name, path, []


NETWORKS = {"zoo": zoo_networks, "trained": trained_networks, "small": small_networks}


def listed(kind):
    """{network: its entries, each an operator and a reason}."""
    entries = {}
    for line in LIST.read_text().splitlines():
        network, *entry = line.split(" | ")
        if network.startswith(f"{kind}/"):
            entries.setdefault(network, []).append(tuple(entry))
    return entries


def slow_shares(contractions):
    """{(operator, reason): share} of the multiply-adds that run by loops."""
    shares = {}
    for contraction in contractions:
        if contraction["slow"]:
            entry = contraction["contraction"], contraction["reason"]
            shares[entry] = shares.get(entry, 0) + contraction["share"]
    return shares


def is_fast(shares, entries):
    return sum(share for entry, share in shares.items() if entry not in entries) <= LARGEST_SHARE


def missing(shares, entries):
    """The fewest entries that must be added."""
    added = []
    for entry in sorted(shares, key=shares.get, reverse=True):
        if entry not in entries and not is_fast(shares, entries + added):
            added.append(entry)
    return added


def faults(network, by_cpu, entries):
    """Yields one line for each fault in the entries of a network, whose slow shares are given for each processor."""
    for entry in dict.fromkeys(entry for shares in by_cpu.values() for entry in missing(shares, entries)):
        where = ", ".join(f"{shares[entry]:.1%} on {cpu}" for cpu, shares in by_cpu.items() if entry in shares)
        yield f"runs by loops, {where}: {network} | {' | '.join(entry)}"
    for entry in entries:
        others = [other for other in entries if other != entry]
        if all(is_fast(shares, others) for shares in by_cpu.values()):
            yield f"needs no entry in {LIST.name} any more: {network} | {' | '.join(entry)}"


def check(kind):
    entries = listed(kind)
    lines, count, total = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, model, arguments in NETWORKS[kind](pathlib.Path(folder)):
            network, by_cpu = f"{kind}/{name}", {}
            for cpu in CPUS:
                report = attune_json("inspect", model, "--contractions", "--cpu", cpu, *arguments)
                by_cpu[cpu] = slow_shares(report["contractions"])
                total += len(report["contractions"])
            count += 1
            lines += faults(network, by_cpu, entries.pop(network, []))
    lines += [f"{LIST.name} has no such network: {network}" for network in entries]
    print(f"{count} networks, {total} contractions")
    assert count and total and not lines, "\n".join(lines)


end_to_end(lambda: check(sys.argv[1]))
