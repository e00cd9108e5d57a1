"""./do promises: how good the service's predictions are, on networks that it has not learned from."""
import datetime
import pathlib
import random
import re
import shlex
import sys
import tempfile
import time

from common import machine
from common.fleet_members import KEY, Fleet
from common.options import INTERRUPTED, Parser, count
from common.program import PROGRAM, ROOT, Failed
from common.progress import interrupt_on_terminate, progress
from common.rest_client import Refused, first_client
from common.results import RESULTS, load, rounded, write
from promises import judging
from promises.variants import all_variants, model_of

PUBLISHED = RESULTS / "promises.json"
PAGE = ROOT / "docs/service.md"
SEED = 1

DESCRIPTION = """A server, a runner and this machine as a device tune variants of the zoo's networks, of other widths
and sizes. The service learns from the first ones; for each of the others, it predicts the latency and the finishing
time when it is submitted, and the job then tells. One or two jobs are there at a time, so that some wait. The result of
each job is written into the work folder. Leave the machine alone meanwhile."""


def parse(arguments):
    parser = Parser("promises", description=DESCRIPTION)
    parser.add_argument("--learn", type=count, default=24, help="variants to learn from (default: 24)")
    parser.add_argument("--judge", type=count, default=60, help="variants to judge by (default: 60)")
    parser.add_argument("--trials", type=count, default=32, help="of each job (default: 32)")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/promises", help="default: build/promises")
    parser.add_argument("--write-docs", action="store_true", help="also write results/ and docs/service.md")
    parser.add_argument("--page-only", action="store_true", help="measure nothing: make the page of results/ again")
    return parser.parse_args(arguments)


def body_of(variant, digest, trials):
    """The submission of a variant's job."""
    return {"name": re.sub(r"[^A-Za-z0-9.-]", "-", variant), "kind": "tuning", "on": KEY,
            "inputs": [{"name": "in/net.onnx", "sha256": digest}],
            "settings": {"model": "in/net.onnx", "trials": trials, "transfer_runs": False}, "agreement": {}}


def seconds_between(job):
    """From the submission to the end."""
    begin, end = (datetime.datetime.fromisoformat(job[key]) for key in ("submitted", "ended"))
    return (end - begin).total_seconds()


class Experiment:
    """The service, and what came of its jobs."""

    def __init__(self, client, options):
        self._client, self._options = client, options
        self._waits = random.Random(SEED)

    def submit(self, variant):
        """Predicts and submits a variant's job."""
        body = body_of(variant, self._client.upload(model_of(variant)), self._options.trials)
        prediction = self._client.told("POST", "/v1/predictions", body)
        job = self._client.told("POST", "/v1/jobs", body)["id"]
        return {"variant": variant, "job": job, "prediction": prediction}

    def end(self, submitted):
        """The same with what came."""
        job = self._client.await_end(submitted["job"])
        if job["state"] != "done":
            raise Failed(f"{submitted['variant']}: {job['error']}")
        judged = job["result"]["judged"]
        return {**submitted, "mean_ms": judged["mean_ms"][0], "p99_ms": judged["p99_ms"][0],
                "seconds": seconds_between(job)}

    def run(self, variants):
        """Yields the variants' jobs as they end. Some begin alone, and some while another one runs."""
        running = []
        for variant in variants:
            running.append(self.submit(variant))
            if len(running) > 1 or self._waits.random() < 0.5:
                yield self.end(running.pop(0))
            if running and self._waits.random() < 0.5:
                time.sleep(self._waits.uniform(0, 10))
        for submitted in running:
            yield self.end(submitted)


def measure(options):
    """The judged jobs."""
    variants = all_variants(SEED)[:options.learn + options.judge]
    if len(variants) < options.learn + options.judge:
        raise Failed(f"there are {len(variants)} variants and not {options.learn + options.judge}")
    kept = options.work / "jobs.json"
    with tempfile.TemporaryDirectory() as folder:
        fleet = Fleet(pathlib.Path(folder), PROGRAM, 30, ["--http", "127.0.0.1:0"])
        with fleet:
            fleet.add_agent("agent", KEY)
            fleet.add_runner("runner")
            experiment, jobs = Experiment(first_client(fleet), options), []
            for number, job in enumerate(experiment.run(variants)):
                progress(f"{number + 1} of {len(variants)}: {job['variant']}, {job['seconds']:.0f} s")
                jobs.append(job)
                write(kept, {"jobs": rounded(jobs)})
    return jobs[options.learn:]


def page_of(results):
    """docs/service.md."""
    return f"""# The service in figures

    {results["command"]}

tunes {results["learned"]} variants of the zoo's networks, of other widths and sizes, with {results["trials"]} trials each,
and then judges the [promises](guides/promises.md) that the service makes for {len(results["jobs"])} others, in one pass, on
{results["machine"]["cpu"]}.

{judging.table(results["jobs"])}

The prior knows the roofline, the plan and the queue alone. An error is that of the median, as a share.
"""


def main(arguments):
    options = parse(arguments)
    try:
        if options.page_only:
            PAGE.write_text(page_of(load(PUBLISHED)))
            return 0
        jobs = measure(options)
        command = ["./do", "promises"]
        usual = parse([])
        for name in ("learn", "judge", "trials"):
            if getattr(options, name) != getattr(usual, name):
                command += [f"--{name}", str(getattr(options, name))]
        results = {"machine": machine.describe(), "command": shlex.join(command), "learned": options.learn,
                   "trials": options.trials, "jobs": rounded(jobs)}
        if options.write_docs:
            write(PUBLISHED, results)
            PAGE.write_text(page_of(results))
        print(judging.table(jobs))
    except (Failed, Refused, ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    interrupt_on_terminate()
    sys.exit(main(sys.argv[1:]) or 0)
