"""Models that are objects in memory, as files that the importers read."""
from __future__ import annotations

import os
import sys
from typing import Any

from .errors import InvalidError


def _is(model: Any, module: str, name: str) -> bool:
    """Whether it is of a class in a module; False where nobody has imported the module, so that no model is of it."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(model, kind)


def write(model: Any, folder: str) -> str:
    """Writes an onnx.ModelProto or a torch.export.ExportedProgram into a folder. Returns the path."""
    if _is(model, "torch.export", "ExportedProgram"):
        path = os.path.join(folder, "model.pt2")
        sys.modules["torch.export"].save(model, path)
        return path
    if _is(model, "torch.nn", "Module"):
        raise InvalidError(f"{type(model).__name__} is a PyTorch module, which has no graph yet: load "
                           "torch.export.export(model.eval(), args), or use torch.compile(model, backend=\"attune\")")
    if not hasattr(model, "SerializeToString"):
        raise InvalidError(f"cannot load a {type(model).__name__}; load a path, an onnx.ModelProto or a "
                           "torch.export.ExportedProgram")
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    return path
