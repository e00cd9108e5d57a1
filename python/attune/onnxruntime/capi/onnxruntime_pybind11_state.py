"""The exceptions by the names that ONNX Runtime gives them."""
from ...errors import (Error as Fail, InternalError as RuntimeException, InvalidError as InvalidArgument,
                       InvalidError as InvalidGraph, InvalidError as InvalidProtobuf, NotFoundError as NoSuchFile,
                       UnsupportedError as NotImplemented)

__all__ = ["Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoSuchFile", "NotImplemented", "RuntimeException"]
