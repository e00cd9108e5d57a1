"""Shared by the scripts of this folder: where things are, how cases are drawn, and how a check ends."""
import argparse
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

from common.program import ROOT, Failed  # noqa: E402

MODELS = pathlib.Path(os.environ.get("ATTUNE_MODELS", ROOT.parent / "shared/models"))
SKIPPED = 77  # the exit code that ctest counts as skipped


def need(path):
    """Returns the path; ends the check if that file, which is not part of this repository, is missing."""
    if path.exists():
        return path
    print(f"{path} is missing; this check needs it")
    sys.exit(1 if os.environ.get("CI") else SKIPPED)


def end_to_end(check, pending=None):
    """Runs `check` and exits. `pending` is the reason why it cannot pass yet: its error must contain this text. A
    pending check that passes is a failure, so that the list of pending ones can only shrink."""
    try:
        check()
    except (Failed, AssertionError) as error:
        print(error)
        if pending and pending in str(error):
            print(f"expected for now: {pending}")
            sys.exit(0)
        sys.exit(1)
    if pending:
        print(f"passes, but is listed as pending: {pending}")
        sys.exit(1)
    sys.exit(0)


def check_drawn(description, what, check_case, count=100):
    """Checks the cases of --count seeds from --seed on, and exits. `check_case` returns what is wrong with a seed's case, or
    None; `what` says what cases are."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=count)
    options = parser.parse_args()

    def check():
        faults = [fault for fault in map(check_case, range(options.seed, options.seed + options.count)) if fault]
        print(f"{options.count} {what}, {len(faults)} wrong")
        assert not faults, "\n".join(faults)

    end_to_end(check)
