"""The command line of ./do accuracy."""
import argparse
import pathlib

from accuracy import networks
from accuracy.networks import NETWORKS
from accuracy.quantizers import TOOLS
from common import machine, runtime
from common.models.files import TRAINED
from common.options import Parser, count
from common.program import PROGRAM, ROOT

OUTPUT = ROOT / "build/accuracy"
CALIBRATION, JUDGING = 400, 800  # samples; Attune holds back a quarter of the former

DESCRIPTION = """Quantizes trained networks, and compares each with the float network that it comes from, on data that
nothing was calibrated with; beside the quantization of ONNX Runtime and LiteRT. Complete results are kept and not
measured again, so the same command resumes where it was interrupted."""

EPILOG = f"Networks: {', '.join(NETWORKS)}. Tools: {', '.join(TOOLS)}."


def network_names(text):
    try:
        return networks.named(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def tool_names(text):
    for name in text.split(","):
        if name not in TOOLS:
            raise argparse.ArgumentTypeError(f"there is no tool {name}; there are {', '.join(TOOLS)}")
    return [name for name in TOOLS if name in text.split(",")]


def parser():
    p = Parser("accuracy", description=DESCRIPTION, epilog=EPILOG)
    p.add_argument("--only", type=network_names, metavar="NETWORK,...", default=list(NETWORKS), dest="networks",
                   help="these networks; default: all")
    p.add_argument("--tools", type=tool_names, metavar="TOOL,...", default=list(TOOLS),
                   help="these tools; default: all")
    p.add_argument("--calibration", type=count, metavar="N", default=CALIBRATION,
                   help=f"samples to calibrate with; default: {CALIBRATION}")
    p.add_argument("--judging", type=count, metavar="N", default=JUDGING,
                   help=f"samples to compare by; default: {JUDGING}")
    p.add_argument("--threads", type=count, metavar="N", default=machine.processors(),
                   help="default: as many as there are processors")
    p.add_argument("--again", action="store_true", help="measure what is complete once more")
    p.add_argument("--output", type=pathlib.Path, metavar="DIR", default=OUTPUT,
                   help=f"for results.json and the report; default: {OUTPUT.relative_to(ROOT)}")
    p.add_argument("--write-docs", action="store_true", help="write docs/quantization.md too")
    return p


def missing():
    """Describes what is missing, or None."""
    if not TRAINED.is_dir():
        return "../shared/models is missing; it holds the trained networks, and the photos and sounds for them"
    for path in (PROGRAM, runtime.LIBRARY):
        if not path.is_file():
            return f"{path} is missing; ./do build makes it"
    return None


def parse(arguments):
    """The options. Ends the program if they are wrong."""
    p = parser()
    args = p.parse_args(arguments)
    wrong = missing()
    if wrong:
        p.error(wrong)
    return args
