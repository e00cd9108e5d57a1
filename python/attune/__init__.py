"""Attune compiles a trained neural network into a fast program for the processor at hand.

    import attune

    network = attune.load("resnet50.onnx").tune(minutes=10).compile()
    network.save("resnet50.atn")
    scores = network.run({"input": image})["output"]
"""
from ._core import build_id, version
from .errors import (CancelledError, Error, InternalError, InvalidError, NotFoundError, ResourceError, UnavailableError,
                     UnsupportedError)
from .network import Network, Profile, load, zoo
from .session import Session

__version__ = version()
__all__ = ["CancelledError", "Error", "InternalError", "InvalidError", "Network", "NotFoundError", "Profile",
           "ResourceError", "Session", "UnavailableError", "UnsupportedError", "build_id", "load", "version", "zoo"]
