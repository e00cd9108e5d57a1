"""Runs one tool on one network: quantizes, then runs both networks interleaved on the judging samples.

Each such entry has a process of its own. So a crash affects only that entry, the thread pools of engines do not meet,
memory is returned, and the output of engines goes to a file.
"""
import datetime
import multiprocessing
import os
import shutil
import time

from accuracy.networks import NETWORKS
from accuracy.quantizers import TOOLS, Job, NotSupported
from common import machine
from common.agreement import metrics
from common.program import Failed
from common.progress import interrupt_on_terminate

PATIENCE_S = 10


def judge(reference, quantized, samples, metric):
    """The cost of quantization. Both networks run each sample. Raises Failed."""
    errors = []
    for sample in samples:
        expected, actual = reference(sample), quantized(sample)
        if not metrics.is_finite(actual):
            raise Failed("the quantized network computes numbers that are not finite")
        if [output.shape for output in actual] != [output.shape for output in expected]:
            raise Failed("the quantized network has outputs of other shapes")
        metric.add(expected, actual)
        errors.append(metrics.relative_error(expected, actual))
    return {"metric": metric.name, "score": metric.value(), "relative_error": sum(errors) / len(errors),
            **metric.facts()}


def measure(network_name, tool_name, settings, folder):
    """The entry for the results, without what run() adds. Raises Failed."""
    network = NETWORKS[network_name]
    job = Job(network, settings["calibration"], settings["judging"], settings["threads"], folder)
    try:
        quantized, facts = TOOLS[tool_name].quantize(job)
    except NotSupported as error:
        return {"status": "NS", "reason": str(error)}
    return {"status": "ran", **judge(job.reference, quantized, job.judging_samples(), network.metric()), **facts}


def serve(pipe, log, arguments):
    """The child process: sends (entry, None) or (None, error)."""
    with open(log, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    interrupt_on_terminate()
    try:
        pipe.send((measure(*arguments), None))
    except Exception as error:  # any exception of an engine is its reason
        pipe.send((None, f"{error}" if isinstance(error, Failed) else f"{type(error).__name__}: {error}"))


def end(process):
    """Ends the process, politely first, so that it can end its own children."""
    process.terminate()
    process.join(PATIENCE_S)
    process.kill()
    process.join()


class Lab:
    """`folder` holds models, logs and intermediate files."""

    def __init__(self, folder, settings):
        self._folder, self._settings = folder, settings
        # Described now, just after the build: the sources may change while networks are measured.
        self._program, self._versions = machine.program(), machine.versions()

    def run(self, network, tool):
        """The entry of a network and a tool (names), see results.py. Raises Failed."""
        start = time.monotonic()
        entry = self._isolated(network, tool)
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        version = {"version": self._versions[tool]} if tool in self._versions else {}
        return {"network": network, "tool": tool, "date": now, "attune": self._program, **version, **entry,
                "wall_s": time.monotonic() - start}

    def _isolated(self, network, tool):
        log, work = self._folder / "logs" / f"{network}-{tool}.log", self._folder / "work"
        log.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=serve, args=(theirs, log, (network, tool, self._settings, work)))
        process.start()
        theirs.close()
        try:
            entry, error = ours.recv()
            process.join(PATIENCE_S)
        except (EOFError, ConnectionResetError):
            process.join()
            raise Failed(f"its process ended with code {process.exitcode}, see {log}") from None
        finally:
            end(process)
            shutil.rmtree(work, ignore_errors=True)
        if error is not None:
            raise Failed(error)
        return entry
