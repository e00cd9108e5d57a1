"""Networks of the zoo, and of the benchmark: its model files where they were made, else those of the zoo."""
import os

from common.models import files
from program import ROOT, attune, attune_json

FOLDER = ROOT / "build/tuning/models"

# What the zoo calls the benchmark's networks, where it is not the same.
ZOO_NAMES = {"bert_base_128": "bert_base", "resnet50v2": "resnet50_v2"}


def zoo_names():
    return [entry["name"] for entry in attune_json("zoo")["networks"]]


def zoo_name(network):
    return ZOO_NAMES.get(network, network)


def zoo_model(name):
    """The file of a network of the zoo, with seeded weights, made if it is missing. Raises Failed."""
    path = FOLDER / f"{name}.onnx"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        unfinished = FOLDER / f"{name}.unfinished"
        attune("zoo", name, "-o", unfinished)
        os.replace(unfinished, path)
    return path


def benchmark_model(network):
    """Where the benchmark's file of this network is, if it was made."""
    return files.FOLDER / f"{network}.onnx"


def model(network):
    """The file of a network, by its name in the benchmark or in the zoo. Raises Failed."""
    path = benchmark_model(network)
    return path if path.exists() else zoo_model(zoo_name(network))


def is_known(network, zoo):
    """Whether there is a model. `zoo` are the zoo's names."""
    return benchmark_model(network).exists() or zoo_name(network) in zoo


def all_models(network, zoo):
    """Every form of the network that there is: exporters differ in what they make of the same layers."""
    found = [benchmark_model(network)] if benchmark_model(network).exists() else []
    return [*found, zoo_model(zoo_name(network))] if zoo_name(network) in zoo else found
