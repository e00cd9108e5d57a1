"""Models of networks in the zoo and in the benchmark: the benchmark's model files if they were made, otherwise those of
the zoo."""
import os

from common.models import files
from common.program import ROOT, attune, attune_json

FOLDER = ROOT / "build/tuning/models"

# The zoo's names for the benchmark's networks, if they differ.
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
    """The path of the benchmark's file for this network, which may not exist."""
    return files.FOLDER / f"{network}.onnx"


def model(network):
    """The file of a network, by its name in the benchmark or in the zoo. Raises Failed."""
    path = benchmark_model(network)
    return path if path.exists() else zoo_model(zoo_name(network))


def is_known(network, zoo):
    """Whether there is a model. `zoo`: the names in the zoo."""
    return benchmark_model(network).exists() or zoo_name(network) in zoo


def all_models(network, zoo):
    """Every existing form of the network: exporters turn the same layers into different operators."""
    found = [benchmark_model(network)] if benchmark_model(network).exists() else []
    return [*found, zoo_model(zoo_name(network))] if zoo_name(network) in zoo else found
