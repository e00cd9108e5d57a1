"""Shows what Attune does with trained networks: ./do demo runs it, and says first what it will do.

Results go to stdout and to build/demo/, progress to stderr. Exits with 1 if a number does not agree with ONNX Runtime's."""
import argparse
import pathlib
import sys

from common.program import PROGRAM, Failed, attune_json, print_table
from demo.build import build
from demo.networks import CLASSIFIER
from demo.show import Budget, Show, shown
from demo.stages import Stages

FOLDER = pathlib.Path("build/demo")  # ./do has the root of the repository as the working folder


def parsed():
    parser = argparse.ArgumentParser(prog="./do demo", description="Compile, tune, quantize and measure networks from PyPI.")
    parser.add_argument("--tune", type=int, default=Budget.tuning_s, metavar="SECONDS",
                        help="how long to tune each network; default: %(default)s")
    parser.add_argument("--installed-s", type=float, default=0, help=argparse.SUPPRESS)  # how long that has taken
    return parser.parse_args()


def print_summary(seconds):
    """Prints what took how long, and on which machine."""
    print_table([["stage", "seconds"], *[[name, f"{value:.0f}"] for name, value in seconds.items()],
                 ["together", f"{sum(seconds.values()):.0f}"]])
    print(f"  machine: {attune_json('doctor')['checks']['processor']['text']}\n")


def print_next():
    print(f"""next, for example:
  {shown(PROGRAM)} profile {FOLDER}/detector.tuned.1.atn --threads 1
  {shown(PROGRAM)} tune {shown(CLASSIFIER.model)} {' '.join(CLASSIFIER.shape_flags)} --time 10m
  ./do wheel    # the Python package, with which docs/examples/read_text.py reads pictures of yours""")


def main():
    arguments = parsed()
    sys.stdout.reconfigure(line_buffering=True)  # so that tables stand between the lines about stages
    FOLDER.mkdir(parents=True, exist_ok=True)
    show = Show(FOLDER, Budget(tuning_s=arguments.tune))
    work = {"build": build, "compile and read": show.compile_and_read, "tune": show.tune, "quantize": show.quantize,
            "measure": show.measure, "run from C": show.run_from_c}
    stages = Stages()
    stages.seconds["install"] = arguments.installed_s
    try:
        for title, do in work.items():
            with stages.stage(title):
                do(stages)
        print_summary(stages.seconds)
    except Failed as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    if show.wrong:
        print(f"demo: numbers do not agree: {', '.join(show.wrong)}; see the tables above", file=sys.stderr)
        return 1
    print_next()
    return 0


if __name__ == "__main__":
    sys.exit(main())
