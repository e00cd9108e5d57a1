"""Attune compiles a trained neural network into a fast program for the processor at hand.

    import attune

    network = attune.load("resnet50.onnx").tune(minutes=10).compile()
    network.save("resnet50.atn")
    scores = network.run({"input": image})["output"]
"""
from . import _loading, sweeps  # in this order
from ._core import build_id, version
from .compiled_cache import CacheLimits
from .device import Device
from .errors import (CancelledError, Error, InternalError, InvalidError, NotFoundError, ResourceError, UnavailableError,
                     UnsupportedError)
from .network import Network, Profile, load, zoo
from .open_network import OpenNetwork
from .session import Session
from .tuner import BenchmarkingContext, Evaluation, Tuner

__version__ = version()
__all__ = ["BenchmarkingContext", "CacheLimits", "CancelledError", "Device", "Error", "Evaluation", "InternalError",
           "InvalidError", "Network", "NotFoundError", "OpenNetwork", "Profile", "ResourceError", "Session", "Tuner",
           "UnavailableError", "UnsupportedError", "build_id", "load", "sweeps", "version", "zoo"]
