"""Prints the rows of src/work/job/stage_prior.cc: how long stages take whose jobs cannot tell.

    python3 -m generators.stage_prior SCHEDULE.json...

The files are what `attune jobs run --json` has written. A stage has a row if its job did not predict it; the rows without
a stage are for whole jobs. Other machines and models differ by more than a few schedules show, so that an interval
reaches at least from half the median to twice the median.
"""
import argparse
import collections
import json
import pathlib


def quantile(values, share):
    values = sorted(values)
    return values[round(share * (len(values) - 1))]


def rounded(value):
    """Two digits are more than is known."""
    return f"{float(f'{value:.2g}'):g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schedules", nargs="+", type=pathlib.Path)
    seconds = collections.defaultdict(list)
    for path in parser.parse_args().schedules:
        schedule = json.loads(path.read_text())
        kinds = {job["id"]: job["kind"] for job in schedule["jobs"]}
        for job in schedule["jobs"]:
            if job["state"] == "done":
                seconds[job["kind"], ""].append(job["seconds"])
        for stage in schedule["stages"]:
            if stage["outcome"] == "done" and stage["own_prediction"][2] == 0:
                seconds[kinds[stage["job"]], stage["name"]].append(stage["end"] - stage["start"])
    for (kind, stage), values in sorted(seconds.items()):
        low, median, high = (quantile(values, share) for share in (0.1, 0.5, 0.9))
        numbers = ", ".join(map(rounded, (min(low, median / 2), median, max(high, 2 * median))))
        print(f'    {{"{kind}", "{stage}", {{{numbers}}}}},')


if __name__ == "__main__":
    main()
