"""Looks, before all else, whether the package is whole: PyPI's `attune` is another project with the same import name, and pip lets
each overwrite files of the other."""
import pathlib

if list(pathlib.Path(__file__).parent.parent.glob("attune-*.dist-info")):
    raise ImportError("two projects are installed whose import name is attune, over each other: run "
                      "`pip uninstall attune attune-compiler`, and then `pip install attune-compiler`")
