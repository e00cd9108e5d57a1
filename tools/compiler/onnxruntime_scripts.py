"""Runs public scripts that were written for ONNX Runtime with attune.onnxruntime instead, and prints which pass.

    python3 -m compiler.onnxruntime_scripts CHECKOUTS [--models FOLDER] [--only TEXT]

CHECKOUTS has the repositories as OWNER/NAME. Each script runs in a copy of its folder, once as it is and once with its
imports of onnxruntime changed; one that does not run as it is says nothing. The Python that runs this needs attune,
onnxruntime, onnx, onnxscript, scikit-learn, skl2onnx, opencv-python-headless, pillow, matplotlib, torch, and what YOLOX
imports: loguru, psutil, pycocotools, tabulate and tqdm. --models: a folder with onnx/yolox_nano.onnx. Scripts whose models
have operators of ai.onnx.ml, such as decision trees, are not here: Attune has none of them.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from common.program import attune

SECONDS = 600


@dataclasses.dataclass
class Script:
    repository: str
    path: str
    arguments: tuple = ()
    folder: str = ""  # what is copied, if not the script's own folder alone
    models: dict = dataclasses.field(default_factory=dict)  # from --models: names in the script's folder
    zoo: dict = dataclasses.field(default_factory=dict)  # networks of `attune zoo`, likewise


SKLEARN = "onnx/sklearn-onnx"
EXAMPLES = "microsoft/onnxruntime-inference-examples"
SCRIPTS = [
    Script("microsoft/onnxruntime", "docs/python/inference/examples/plot_load_and_predict.py"),
    Script("microsoft/onnxruntime", "docs/python/inference/examples/plot_profiling.py"),
    Script(EXAMPLES, "python/api/getting_started.py"),
    Script(EXAMPLES, "quantization/image_classification/cpu/run.py",
           ("--input_model", "net.onnx", "--output_model", "net8.onnx", "--calibrate_dataset", "test_images"),
           zoo={"mobilenet_v2": "net.onnx"}),
    Script("dog-qiuqiu/FastestDet", "example/onnx-runtime/runtime.py"),
    Script("Megvii-BaseDetection/YOLOX", "demo/ONNXRuntime/onnx_inference.py",
           ("-m", "yolox_nano.onnx", "-i", "../../assets/dog.jpg", "--input_shape", "416,416"), folder=".",
           models={"onnx/yolox_nano.onnx": "yolox_nano.onnx"}),
    Script(SKLEARN, "docs/examples/plot_gpr.py"),
    Script(SKLEARN, "docs/tutorial/plot_icustom_converter.py"),
    Script(SKLEARN, "docs/tutorial/plot_jcustom_syntax.py"),
    Script(SKLEARN, "docs/tutorial/plot_lcustom_options.py"),
    Script(SKLEARN, "docs/tutorial/plot_dbegin_options_list.py"),
]


def with_attune(text):
    """The script with its imports changed, and how many that were."""
    changes = (
        (r"^(\s*)import onnxruntime as (\w+)", r"\1import attune.onnxruntime as \2"),
        (r"^(\s*)import onnxruntime\s*$", r"\1import attune.onnxruntime as onnxruntime"),
        (r"^(\s*)import onnxruntime\.backend as", r"\1import attune.onnxruntime.backend as"),
        (r"^(\s*)from onnxruntime( |\.capi)", r"\1from attune.onnxruntime\2"),
    )
    count = 0
    for pattern, replacement in changes:
        text, found = re.subn(pattern, replacement, text, flags=re.MULTILINE)
        count += found
    return text, count


def prepare(script, checkout, folder, models):
    """Copies what the script needs to `folder`, and returns its path there."""
    source = checkout / (script.folder or pathlib.Path(script.path).parent)
    target = folder / source.relative_to(checkout)
    shutil.copytree(source, target, dirs_exist_ok=True)
    path = folder / script.path
    for name, local in script.models.items():
        shutil.copy(models / name, path.parent / local)
    for name, local in script.zoo.items():
        attune("zoo", name, "-o", path.parent / local)
    return path


def run(script, path, folder):
    """The error of a run, or nothing."""
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(folder)}
    try:
        result = subprocess.run([sys.executable, path.name, *script.arguments], cwd=path.parent, env=environment,
                                capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"takes more than {SECONDS} s"
    lines = result.stderr.strip().split("\n")
    return "" if result.returncode == 0 else lines[-1] or f"exit code {result.returncode}"


def check(script, checkouts, models):
    """(state, imports that were changed, error)."""
    checkout = checkouts / script.repository
    if not (checkout / script.path).exists() or (script.models and models is None):
        return "not there", 0, ""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = prepare(script, checkout, folder, models)
        error = run(script, path, folder)
        if error:
            return "not as it is", 0, error
        text, count = with_attune(path.read_text())
        path.write_text(text)
        error = run(script, path, folder)
        return "failed" if error else "passed", count, error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=pathlib.Path)
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--only", default="", help="of scripts whose path has this text")
    options = parser.parse_args()
    passed = counted = 0
    for script in SCRIPTS:
        if options.only not in script.path:
            continue
        state, imports, error = check(script, options.checkouts.resolve(), options.models)
        passed += state == "passed"
        counted += state in ("passed", "failed")
        print(f"{state:12} {imports} {script.repository} {script.path}" + (f": {error[:300]}" if error else ""), flush=True)
    print(f"{passed} of {counted} pass")
    return 0 if passed == counted else 1


if __name__ == "__main__":
    sys.exit(main())
