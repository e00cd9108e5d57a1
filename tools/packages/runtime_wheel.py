"""Makes the wheel attune-runtime in build/dist/, of the package python/attune_runtime and the portable build's runtime: for every
Python from 3.9 on, and glibc 2.17.

    python -m packages.runtime_wheel
"""
import pathlib
import shutil
import sys
import tempfile

from packages.licences import PACKAGES_OF_RUNTIME, whole_licences
from packages.release import BUILD, DIST, ROOT, exit_status, run, source_date, version

METADATA = """\
Metadata-Version: 2.1
Name: attune-runtime
Version: {version}
Summary: Runs neural networks that Attune has compiled, without a compiler
License: Apache-2.0
Author: The authors of Attune
Requires-Python: >=3.9
Requires-Dist: numpy>=1.21
Description-Content-Type: text/markdown

# The runtime of Attune

```python
import attune_runtime

session = attune_runtime.Model("resnet50.atn").session(threads=4)
scores = session.run({{"input": image}})["output"]
```

`attune compile`, of the package attune-compiler, makes such files of ONNX, TensorFlow Lite, TensorFlow and PyTorch.
"""
WHEEL = """\
Wheel-Version: 1.0
Generator: attune
Root-Is-Purelib: false
Tag: py3-none-linux_x86_64
"""


def write_licences(folder: pathlib.Path) -> None:
    """Writes ours, and those of what is linked into the library."""
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "LICENSE", folder)
    (folder / "licences.txt").write_text(whole_licences(PACKAGES_OF_RUNTIME))


def make_wheel() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / "tree"
        shutil.copytree(ROOT / "python" / "attune_runtime", tree / "attune_runtime", ignore=shutil.ignore_patterns("__pycache__"))
        run("strip", "-o", tree / "attune_runtime" / "libattune_runtime.so", BUILD / "lib" / "libattune_runtime.so")
        facts = tree / f"attune_runtime-{version()}.dist-info"
        write_licences(facts / "licenses")
        (facts / "METADATA").write_text(METADATA.format(version=version()))
        (facts / "WHEEL").write_text(WHEEL)
        stamp = {"SOURCE_DATE_EPOCH": str(source_date())}
        run(sys.executable, "-m", "wheel", "pack", "--dest-dir", folder, tree, env=stamp)
        packed, = pathlib.Path(folder).glob("*.whl")
        for old in DIST.glob("attune_runtime-*.whl"):
            old.unlink()
        DIST.mkdir(parents=True, exist_ok=True)
        run("auditwheel", "repair", "--plat", "manylinux_2_17_x86_64", "--wheel-dir", DIST, packed, env=stamp)


if __name__ == "__main__":
    sys.exit(exit_status(make_wheel))
