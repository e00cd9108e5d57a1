"""Compares how two builds of Attune tune, by a run that both replay.

    python3 -m figures.replay_tuning --before PROGRAM [--trials N] [--work FOLDER] [--write FILE] NETWORK...

For each network (a name of the zoo or a model file) the program before the change records a run; then both programs
replay it: they measure for real and learn from the recorded times. Prints whether both tried the same candidates, their
trials a second, and the share of each run in which the device was held exclusively. The program after the change is
$ATTUNE, or the one of the release build. Leave the machine alone meanwhile. Exits with 1 where the candidates differ.
--write results/replay.json keeps the figures for docs/tuning.md.
"""
import argparse
import datetime
import json
import pathlib
import sys
import tempfile

from common.program import PROGRAM, Failed, attune, cpu_name, model_file

# In these stages, a build before stages were split held the device.
EXCLUSIVE_BEFORE = ("measure", "finalize")


def tune(program, model, work, name, trials, replayed=None, more=()):
    """Runs the tuner. Returns its report, the candidates that it measured, in order, and the file of its events."""
    files = {kind: work / f"{name}.{kind}" for kind in ("db", "jsonl", "json")}
    for path in [*files.values(), *(work / f"{name}.db-{part}" for part in ("wal", "shm", "runs"))]:
        path.unlink(missing_ok=True)
    attune("tune", model, "--threads", 1, "--trials", trials, "--records", files["db"], "--events", files["jsonl"],
           "--json", files["json"], *(["--replay", replayed] if replayed else []), *more, program=program)
    events = [json.loads(line) for line in files["jsonl"].read_text().splitlines()]
    candidates = [(event["task"], event["candidate"]) for event in events if event["event"] == "measurement"]
    return json.loads(files["json"].read_text()), candidates, files["jsonl"]


def exclusive_share(stage_seconds):
    """The share of a run's time in which it held the device."""
    held = sum(seconds for stage, seconds in stage_seconds.items()
               if stage in (*EXCLUSIVE_BEFORE, "calibrate", "time") or stage.endswith("_time"))
    return held / sum(stage_seconds.values())


def compare(network, before, trials, work):
    """Compares the runs of both programs."""
    model = model_file(network, work)
    _, _, recording = tune(before, model, work, "recorded", trials)
    old, tried_before, _ = tune(before, model, work, "before", trials, recording)
    new, tried_after, _ = tune(PROGRAM, model, work, "after", trials, recording)
    return {"candidates": len(tried_before), "are_same": tried_before == tried_after,
            "trials_per_second": [report["trials"] / report["seconds"] for report in (old, new)],
            "exclusive": [exclusive_share(report["stage_seconds"]) for report in (old, new)]}


def described(network, entry):
    rates, shares = entry["trials_per_second"], entry["exclusive"]
    return (f"{network}: {entry['candidates']} candidates, {'the same' if entry['are_same'] else 'others'}; trials a "
            f"second {rates[0]:.2f} before, {rates[1]:.2f} after ({rates[1] / rates[0]:.2f} times); exclusive "
            f"{100 * shares[0]:.1f} % before, {100 * shares[1]:.1f} % after")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", metavar="NETWORK")
    parser.add_argument("--before", required=True, type=pathlib.Path, metavar="PROGRAM")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--write", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--work", type=pathlib.Path, help="where recordings and records are kept (default: nowhere)")
    arguments = parser.parse_args()
    entries = {}
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or pathlib.Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        for network in arguments.networks:
            entries[network] = compare(network, arguments.before, arguments.trials, work)
            print(described(network, entries[network]), flush=True)
    if arguments.write:
        result = {"cpu": cpu_name(), "date": datetime.date.today().isoformat(),
                  "trials": arguments.trials, "networks": entries}
        arguments.write.write_text(json.dumps(result, indent=1) + "\n")
    return 0 if all(entry["are_same"] for entry in entries.values()) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {error}")
