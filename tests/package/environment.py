"""An environment of its own with the wheel in build/dist/, as a user has it."""
import pathlib
import sys
import sysconfig

from commands import run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def wheel():
    """The file for this Python: that of its version, or one by the stable ABI."""
    tag = "cp%d%d" % sys.version_info[:2]
    made = [*(ROOT / "build" / "dist").glob(f"attune_compiler-*-{tag}-*.whl"),
            *(ROOT / "build" / "dist").glob("attune_compiler-*-abi3-*.whl")]
    return made[0]


def make_environment(folder):
    """Installs the wheel by its file; NumPy and others are those of the tests. Returns the environment's Python."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = pathlib.Path(folder) / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps", wheel())
    packages = run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").strip()
    (pathlib.Path(packages) / "tests.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python
