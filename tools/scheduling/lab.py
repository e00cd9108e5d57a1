"""Records, replays and simulates schedules of tuning jobs."""
import json
import shutil

from common.program import attune, attune_json, model_file
from common.progress import progress

SETTINGS = {"batch": 32, "transfer_runs": False, "seed": 0}


def remove(*paths):
    """Removes files and folders that may not exist."""
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


class Lab:
    """The experiments in one folder, which keeps the finished ones: a run that was interrupted resumes. All methods
    raise Failed."""

    def __init__(self, work, trials, building):
        self.work, self.trials, self.building = work.resolve(), trials, building
        self.work.mkdir(parents=True, exist_ok=True)

    def model(self, network):
        folder = self.work / "models" / network
        folder.mkdir(parents=True, exist_ok=True)
        model = folder / "network.onnx"
        return model if model.exists() else model_file(network, folder)

    def untuned(self, network):
        """The artifact of the network as it is compiled without records."""
        artifact = self.work / "models" / network / "untuned.atn"
        if not artifact.exists():
            attune("compile", self.model(network), "--threads", 1, "-o", artifact)
        return artifact

    def recording(self, network):
        """The events of a run of the network, recorded once: all others learn from its times."""
        events = self.work / "recorded" / f"{network}.jsonl"
        if events.exists():
            return events
        progress(f"recording {network}")
        events.parent.mkdir(exist_ok=True)
        unfinished, records = events.with_suffix(".unfinished"), events.with_suffix(".db")
        remove(unfinished, *events.parent.glob(f"{network}.db*"))
        attune("tune", self.model(network), "--threads", 1, "--trials", self.trials, "--batch", SETTINGS["batch"],
               "--no-transfer-runs", "--records", records, "--events", unfinished,
               "-o", events.with_suffix(".atn"))
        return unfinished.rename(events)

    def recorded_artifact(self, network):
        return self.recording(network).with_suffix(".atn")

    def schedule(self, name, networks, strategy, replays=True):
        """Tunes the networks side by side, for real, replaying their recorded runs or not. Returns the schedule as
        attune jobs run writes it."""
        folder = self.work / "runs" / name
        result = folder / "schedule.json"
        if result.exists():
            return json.loads(result.read_text())
        jobs = [{"id": network, "model": str(self.model(network)), "trials": self.trials, **SETTINGS,
                 "builders": self.building, "records": f"{network}.db", "events": f"{network}.jsonl",
                 "output": f"{network}.atn",
                 **({"replay": str(self.recording(network))} if replays else {})} for network in networks]
        progress(f"running {name}")
        remove(folder)
        folder.mkdir(parents=True)
        (folder / "jobs.yaml").write_text(json.dumps({"jobs": jobs}))
        unfinished = folder / "unfinished.json"
        isolation = "none" if strategy == "uncoordinated" else "core"
        attune("jobs", "run", folder / "jobs.yaml", "--state", folder / "jobs.db", "--strategy", strategy,
               "--building", self.building, "--measuring", 1, "--isolation", isolation, "--json", unfinished,
               "--report", folder / "report.html")
        unfinished.rename(result)
        return json.loads(result.read_text())

    def alone(self, network):
        """Replays the network's run alone. Returns the name of that schedule."""
        name = f"alone-{network}"
        self.schedule(name, [network], "first_come")
        return name

    def trace(self, name):
        return self.work / "runs" / name / "schedule.json"

    def artifact(self, name, network):
        return self.work / "runs" / name / f"{network}.atn"

    def kernels(self, name, network):
        """The digests of the tuned network's kernels."""
        return [kernel["digest"] for kernel in attune_json("inspect", self.artifact(name, network))["kernels"]]

    def ratios(self, name, network):
        """{(task, candidate, turn): ratio to the baseline} as that run has measured it, in its order."""
        ratios, turns = {}, {}
        for line in (self.work / "runs" / name / f"{network}.jsonl").read_text().splitlines():
            event = json.loads(line)
            if event["event"] == "measurement" and event.get("measured_ratio", 0) > 0 and not event.get("abandoned"):
                key = event["task"], event["candidate"]
                turns[key] = turns.get(key, 0) + 1
                ratios[(*key, turns[key])] = event["measured_ratio"]
        return ratios

    def simulate(self, traces, *arguments):
        """The rows of attune jobs simulate, by strategy."""
        flags = [part for trace in traces for part in ("--trace", trace)]
        return {row["strategy"]: row for row in attune_json("jobs", "simulate", *flags, *arguments)["strategies"]}
