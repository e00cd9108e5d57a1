"""The line of a user's program that a warning is about."""
from __future__ import annotations

import os
import sys

_PACKAGE = os.path.dirname(__file__) + os.sep


def callers_level(*others: str) -> int:
    """Returns the stacklevel, for a function that warns, of the first line outside this package, and outside files whose
    names start with one of `others`."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((_PACKAGE, *others)):
        level, frame = level + 1, frame.f_back
    return level
