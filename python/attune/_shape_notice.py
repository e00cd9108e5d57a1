"""One warning, for a network that is compiled for set after set of shapes, of what that costs."""
from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence

from ._callers import callers_level
from ._declared import Declared, Sizes, named_dims

_SETS = 3  # that come before the warning


class ShapeNotice:
    """Counts the sets of shapes that a network is compiled for, and warns at the third one, once. Thread safe."""

    def __init__(self, inputs: Sequence[Declared], can_pad: bool) -> None:
        self._inputs = inputs
        self._can_pad = can_pad
        self._lock = threading.Lock()
        self._seen: list[Sizes] = []
        self._seconds = 0.0

    def add(self, sizes: Sizes, seconds: float, num_bytes: int) -> None:
        """Counts a set of shapes, which has taken this many seconds, and whose artifact has this many bytes."""
        with self._lock:
            self._seen.append(sizes)
            self._seconds += seconds
            if len(self._seen) != _SETS:
                return
            each = self._seconds / _SETS
        warnings.warn(f"compiled for the third set of input shapes; each takes {each:.1f} s and {num_bytes / 1e6:.1f} MB. "
                      f"{self._way_out()}", stacklevel=callers_level())

    def _way_out(self) -> str:
        names = named_dims(self._inputs)
        behind = [name for name in names if any(name in (input.dims or ())[1:] for input in self._inputs)]
        if not self._can_pad or not names:
            return "Give the inputs few different shapes."
        name = (behind or names)[0]
        seen = {size for sizes in self._seen for input, shape in zip(self._inputs, sizes)
                for dim, size in zip(input.dims or (), shape) if dim == name}
        padded = sorted({1 << max(size - 1, 0).bit_length() for size in seen})
        return ("If the model masks padding, attune.load(model, pad_to="
                f"{{\"{name}\": {padded}}}) pads inputs to a few sizes, and compiles for those alone.")
