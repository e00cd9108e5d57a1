"""Makes of a wheel for one Python the wheel for all later ones, beside it: with the module that knows Python's stable ABI alone.

    python -m packages.stable_abi build/dist/attune_compiler-0.1.0-cp311-cp311-linux_x86_64.whl
"""
import pathlib
import shutil
import sys
import tempfile

from packages.release import ROOT, exit_status, run

MODULE = ROOT / "build" / "portable" / "python" / "stable" / "_core.abi3.so"
FIRST_PYTHON = "cp312"


def make_stable(wheel: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "wheel", "unpack", "--dest", folder, wheel)
        tree, = pathlib.Path(folder).iterdir()
        module, = (tree / "attune").glob("_core.cpython-*.so")
        module.unlink()
        shutil.copy(MODULE, tree / "attune" / MODULE.name)
        run("patchelf", "--set-rpath", "$ORIGIN/lib", tree / "attune" / MODULE.name)
        run("strip", tree / "attune" / MODULE.name)
        made = pathlib.Path(folder) / "made"
        made.mkdir()
        run(sys.executable, "-m", "wheel", "pack", "--dest-dir", made, tree)
        packed, = made.iterdir()
        run(sys.executable, "-m", "wheel", "tags", "--remove", "--python-tag", FIRST_PYTHON, "--abi-tag", "abi3", packed)
        tagged, = made.iterdir()
        shutil.move(tagged, wheel.parent)


if __name__ == "__main__":
    sys.exit(exit_status(lambda: make_stable(pathlib.Path(sys.argv[1]).resolve())))
