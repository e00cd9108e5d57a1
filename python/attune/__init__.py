"""Attune compiles a trained neural network into a fast program for the processor at hand.

    import attune

    network = attune.load("resnet50.onnx").tune(minutes=10).compile()
    network.save("resnet50.atn")
    scores = network.run({"input": image})["output"]
"""
from . import _loading, sweeps  # in this order
from ._core import build_id, version
from .client import Client, Job, JobFile, Prediction, Promise, RemoteDevice
from .compiled_cache import CacheLimits
from .device import Device
from .errors import (AccessError, CancelledError, Error, InternalError, InvalidError, JobFailedError, MissingFileError,
                     NotFoundError, ResourceError, UnavailableError, UnsupportedError, WaitTimeoutError)
from .network import Network, Profile, load, zoo
from .open_network import OpenNetwork
from .session import Session
from .tuner import BenchmarkingContext, Evaluation, Tuner

__version__ = version()
__all__ = ["AccessError", "BenchmarkingContext", "CacheLimits", "CancelledError", "Client", "Device", "Error", "Evaluation",
           "InternalError", "InvalidError", "Job", "JobFailedError", "JobFile", "MissingFileError", "Network", "NotFoundError", "OpenNetwork",
           "Prediction", "Profile", "Promise", "RemoteDevice", "ResourceError", "Session", "Tuner", "UnavailableError",
           "UnsupportedError", "WaitTimeoutError", "build_id", "load", "sweeps", "version", "zoo"]
