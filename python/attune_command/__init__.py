"""The command `attune` that comes with the package: starts its program without an import of the package, which takes longer
than most commands do."""
import importlib.util
import os
import pathlib
import sys
from typing import NoReturn

OTHER_PROJECT = ("the package attune that is found is not Attune's, which pip knows as attune-compiler; another project has the "
                 "same import name. Uninstall that with `pip uninstall attune`, or rename the folder that hides Attune's: ")


def main() -> NoReturn:
    """Becomes the program, with this process's arguments."""
    spec = importlib.util.find_spec("attune")
    if spec is None or spec.origin is None:
        sys.exit("attune: the package attune-compiler is not whole: install it again with "
                 "`pip install --force-reinstall attune-compiler`")
    program = pathlib.Path(spec.origin).parent / "bin" / "attune"
    if not program.exists():
        sys.exit(f"attune: {OTHER_PROJECT}{program.parent.parent}")
    os.execv(program, ["attune", *sys.argv[1:]])
