#!/usr/bin/env python3
"""A job for Attune's scheduler: which zlib settings suit a file?

Each candidate takes two stages. "compress" measures the compressed size, on any processor, beside other work. "time"
measures how fast the result is read back, which needs a device of its own. Results are stored in the job's folder after
each stage, so that a job that was killed resumes there.

In a schedule:

    kind: program
    command: [python3, job_program.py]
    settings: {file: access.log, levels: [1, 6, 9], windows: [12, 15], repeat: 9}

All settings have defaults: this program itself as the file, and the numbers above. docs/job-protocol.md has the
protocol. To try it by hand, type the lines that Attune would send:

    $ python3 job_program.py
    {"attune": 1, "job": "try", "folder": "/tmp", "position": 0, "processors": 1, "devices": [], "settings": {}}
    {"run": {"processors": [0]}}
"""

import argparse
import itertools
import json
import os
import pathlib
import sys
import time
import zlib

PROTOCOL = 1


def send(message):
    # Nothing else may be printed to standard output, and nothing may wait in a buffer.
    print(json.dumps(message), flush=True)


class Results:
    """The results so far of each candidate, in a file that is never half written."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "results.json"
        self.rows = json.loads(self.path.read_text()) if self.path.exists() else {}

    def add(self, candidate, **fields):
        self.rows.setdefault(candidate, {}).update(fields)
        unfinished = self.path.with_suffix(".new")
        unfinished.write_text(json.dumps(self.rows))
        os.replace(unfinished, self.path)


class Search:
    def __init__(self, begin):
        settings = begin["settings"]
        self.data = pathlib.Path(settings.get("file", __file__)).read_bytes()
        self.repeat = settings.get("repeat", 9)
        pairs = itertools.product(settings.get("levels", [1, 6, 9]), settings.get("windows", [12, 15]))
        self.candidates = {f"level {level}, window {window}": (level, window) for level, window in pairs}
        self.has_device = bool(begin["devices"])
        self.results = Results(begin["folder"])
        self.is_cancelled = False

    def todo(self):
        """The remaining stages, each as its name and its candidate."""
        for candidate in self.candidates:
            row = self.results.rows.get(candidate, {})
            if "bytes" not in row:
                yield "compress", candidate
            if "megabytes_per_second" not in row:
                yield "time", candidate

    def answer(self):
        """The message that names the next stage, or the result if none is left."""
        left = [] if self.is_cancelled else list(self.todo())
        rows = self.results.rows
        progress = f"{len(rows)} of {len(self.candidates)} candidates"
        if not left:
            timed = [name for name in rows if "megabytes_per_second" in rows[name]]
            best = {"smallest": min(timed, key=lambda name: rows[name]["bytes"]),
                    "fastest": max(timed, key=lambda name: rows[name]["megabytes_per_second"])} if timed else {}
            return {"done": {"original_bytes": len(self.data), "candidates": rows, **best}, "progress": progress}
        name = left[0][0]
        need = {"key": "processors", "amount": 1}
        if name == "time" and self.has_device:
            need = {"key": "device", "amount": 1, "exclusive": True}
        stage = {"name": name, "needs": [need], "memory_bytes": 50_000_000 + 4 * len(self.data),
                 "seconds": self.seconds(name)}
        return {"stage": stage, "progress": progress, "remaining": sum(self.seconds(other) for other, _ in left)}

    def seconds(self, name):
        # About 20 MB/s are compressed, and 200 MB/s are read.
        return len(self.data) / 20e6 if name == "compress" else self.repeat * len(self.data) / 200e6

    def compress(self, candidate):
        level, window = self.candidates[candidate]
        compressor = zlib.compressobj(level, zlib.DEFLATED, window)
        return compressor.compress(self.data) + compressor.flush()

    def run(self):
        """Runs the next stage."""
        if self.is_cancelled:
            return
        name, candidate = next(self.todo())
        compressed = self.compress(candidate)
        if name == "compress":
            self.results.add(candidate, bytes=len(compressed))
            return
        send({"progress": f"timing {candidate}"})
        times = []
        for _ in range(self.repeat):
            start = time.perf_counter()
            zlib.decompress(compressed)
            times.append(time.perf_counter() - start)
        median = sorted(times)[len(times) // 2]
        self.results.add(candidate, megabytes_per_second=round(len(self.data) / median / 1e6, 1))


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    begin = json.loads(sys.stdin.readline() or "{}")
    if begin.get("attune") != PROTOCOL:
        send({"failed": f"this program speaks version {PROTOCOL} of the job protocol"})
        return
    try:
        search = Search(begin)
        send(search.answer())
        for line in sys.stdin:
            message = json.loads(line)
            if "cancel" in message:
                # A stage takes less than five seconds, so that it may end first.
                search.is_cancelled = True
            elif "run" in message:
                search.run()
                send(search.answer())
    except (OSError, TypeError, ValueError) as error:
        # A mistake of the user's ends the job; after any other end of this program, Attune starts it again.
        send({"failed": str(error)})


if __name__ == "__main__":
    main()
