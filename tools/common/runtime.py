"""Attune's runtime in Python, with the library of the build: the package attune_runtime, whose errors are Failed.

A process for each of a thousand samples would take longer than the inferences.
"""
import sys

from common.program import PROGRAM, ROOT, Failed

sys.path.append(str(ROOT / "python"))
import attune_runtime  # noqa: E402
from attune_runtime import _c as c_interface  # noqa: E402

c_interface.path = PROGRAM.parents[1] / "lib/libattune_runtime.so"


class Session:
    """An artifact that runs on this number of threads. Belongs to one thread at a time; every method raises Failed."""

    def __init__(self, artifact, threads):
        if not c_interface.path.exists():
            raise Failed(f"{c_interface.path} is missing; ./do build makes it")
        try:
            self._model = attune_runtime.Model(artifact)
            self._session = self._model.session(threads)
        except attune_runtime.Error as error:
            raise Failed(str(error)) from None

    def run(self, *arrays):
        """The outputs of one inference, in order; the caller owns them."""
        names = [info.name for info in self._model.inputs]
        if len(arrays) != len(names):
            raise Failed(f"the network takes {len(names)} inputs, not {len(arrays)}")
        try:
            return list(self._session.run(dict(zip(names, arrays))).values())
        except attune_runtime.Error as error:
            raise Failed(str(error)) from None
