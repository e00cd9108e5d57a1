"""Makes a network's versions, judges them, and lets them take turns in each setup, as far as the results lack these."""
import contextlib
import dataclasses
import itertools
import pathlib
from dataclasses import dataclass, field

import numpy

from common import timing
from common.engines import PEERS
from common.models import files
from common.program import NOT_SUPPORTED, ROOT, Failed
from common.worker import PeerProcess
from study import agreement, making, networks, samples, streams
from study import results as ask
from study.networks import FLOAT, VERSIONS

LOGS = ROOT / "build/study/logs"


def failed(error):
    """The entry for something that does not work. Attune's message has a line for each unsupported thing."""
    entry = timing.failed(error)
    if entry["status"] == "NS":
        lines = [line for line in entry["reason"].splitlines() if line.startswith(NOT_SUPPORTED)]
        entry["reason"] = "; ".join(line.removeprefix(NOT_SUPPORTED) for line in lines)
    return entry


def peer_model(engine, network, version, batch):
    """The model file for an engine. Raises Failed."""
    if "onnx" in PEERS[engine].formats:
        return (making.float_model(network, batch) if version == FLOAT.name else
                making.quantized_model(network, networks.version_named(version), batch))
    if network.is_zoo:
        raise Failed(f"{NOT_SUPPORTED}the zoo writes ONNX alone, which it does not read")
    return files.ensure(network.case(batch, version), "tflite")


@dataclass
class Lab:
    """`zones`: the counters of power.packages(), or None; `save` writes the results, `progress` receives lines for the
    user."""
    results: dict
    zones: list | None
    save: object
    progress: object
    _expected: dict = field(default_factory=dict)  # network: the float version's outputs for the judging pictures

    def complete(self, network):
        """Measures what the results lack for a network. The results are saved after each step."""
        own = ask.network_entry(self.results, network.name)
        for version, batch in itertools.product(VERSIONS, networks.BATCHES):
            self._make(network, version, batch, own["artifacts"])
        for version in VERSIONS:
            if version != FLOAT:
                self._judge(network, version, own)
        for setup in networks.setups(self.results["settings"]["processors"]):
            self._run(network, setup, own)
        self._expected.clear()

    def _make(self, network, version, batch, entries):
        key = ask.artifact_key(version.name, batch)
        known = entries.get(key)
        if ask.is_final(known) and (known["status"] == "NS" or making.is_there(network, version, batch)):
            return
        self.progress(f"{network.name}: making {version.title}, batch {batch}")
        try:
            entries[key] = making.make(network, version, batch)
        except Failed as error:
            entries[key] = failed(error)
        self.save()

    def _judge(self, network, version, own):
        if ask.is_final(own["agreement"].get(version.name)):
            return
        self.progress(f"{network.name}: judging {version.title}")
        try:
            expected, actual = (self._outputs(network, each, own) for each in (FLOAT, version))
            own["agreement"][version.name] = agreement.compare(network, expected, actual)
        except Failed as error:
            own["agreement"][version.name] = failed(error)
        except Unmade as unmade:
            own["agreement"][version.name] = unmade.entry
        self.save()

    def _outputs(self, network, version, own):
        """The outputs of a version for the judging pictures."""
        if version == FLOAT and network.name in self._expected:
            return self._expected[network.name]
        check_made(own, version.name, 1)
        outputs = agreement.outputs_of(network, making.artifact(network, version, 1))
        if version == FLOAT:
            self._expected[network.name] = outputs
        return outputs

    def _run(self, network, setup, own):
        """Runs all contestants in one setup."""
        contestants = networks.contestants(self.results["settings"]["peers"])
        known = own["runs"].get(setup.name, {"contestants": {}})["contestants"]
        if all(ask.is_final(known.get(networks.key_of(*each))) for each in contestants):
            return
        self.progress(f"{network.name}: measuring, {setup.title}")
        opened, entries = {}, {}
        with contextlib.ExitStack() as stack:
            for engine, version in contestants:
                key = networks.key_of(engine, version)
                try:
                    runners, entries[key] = self._open(network, setup, engine, version, own, stack)
                    opened[key] = streams.Streams(runners, setup.batch, self.zones)
                except Failed as error:
                    entries[key] = failed(error)
                except Unmade as unmade:
                    entries[key] = unmade.entry
            settings = self.results["settings"]
            turns, failures = timing.take_turns(opened, settings["rounds"], settings["seconds"])
        for key, rounds in turns.items():
            entries[key] |= streams.summary(rounds)
        entries |= {key: failed(reason) for key, reason in failures.items()}
        own["runs"][setup.name] = {"setup": dataclasses.asdict(setup), "contestants": entries}
        self.save()

    def _open(self, network, setup, engine, version, own, stack):
        """(a runner for each stream, the entry); processes end with `stack`."""
        reads_quantized = engine and version != FLOAT.name and "onnx" in PEERS[engine].formats
        if engine is None or reads_quantized:
            check_made(own, version, setup.batch)
        path = (peer_model(engine, network, version, setup.batch) if engine else
                making.artifact(network, networks.version_named(version), setup.batch))
        sample = samples.example(network, setup.batch)
        available = streams.available_processors()
        shares = [streams.processors_of(stream, setup, available) for stream in range(setup.streams)]
        if engine is None:
            runners = [streams.Compiled(path, setup.threads, sample, share) for share in shares]
        else:
            array = numpy.load(sample)
            runners = [open_peer(engine, path, array, setup.threads, share, index, stack)
                       for index, share in enumerate(shares)]
        return runners, {"status": "ran", "bytes": path.stat().st_size}


class Unmade(Exception):
    """Something is missing because its artifact is missing. `entry` takes its place and is marked as a consequence."""

    def __init__(self, entry):
        super().__init__(entry["reason"])
        self.entry = {"status": entry["status"], "reason": entry["reason"], "follows": True}


def check_made(own, version, batch):
    """Raises Unmade if the artifact was not made."""
    entry = own["artifacts"][ask.artifact_key(version, batch)]
    if entry["status"] != "made":
        raise Unmade(entry)


def open_peer(engine, path, array, threads, processors, index, stack):
    """A peer's process that runs on these processors. Raises Failed."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{pathlib.Path(path).stem}-{engine}-{index}.log"
    with streams.bound_to(processors):
        process = PeerProcess(PEERS[engine], path, [array], threads, False, log)
    stack.callback(process.close)
    return process
