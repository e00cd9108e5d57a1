"""Loads the extension module; the package imports this first.

TensorFlow makes its libraries' symbols visible to all that is loaded later, protobuf and BoringSSL among them. Ours are other
versions, and must find their own symbols first. Only beside TensorFlow, since this keeps an allocator that is preloaded, or a
sanitizer, from standing in for the C library's.
"""
import os
import sys

_flags = sys.getdlopenflags()
if "tensorflow" in sys.modules:
    sys.setdlopenflags(_flags | os.RTLD_DEEPBIND)
try:
    from . import _core
finally:
    sys.setdlopenflags(_flags)

__all__ = ["_core"]
