"""Calls the Python package with random wrong arguments, and looks whether exceptions are all that comes of it.

    python3 -m attackers.misuse_python [--calls 1000] [--seed 0]

Runs where the package is installed, in processes of 100 calls each: one that ends by a signal has crashed, and the call
that did it is printed. A call may also succeed; an exception must be one of Attune's, or the TypeError or OverflowError
that Python has for arguments of a wrong type. A call that takes long is interrupted as Ctrl-C would do it."""
import argparse
import collections
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

CALLS_OF_A_PROCESS = 100
LONGEST_SECONDS = 3
MODEL = str(pathlib.Path(__file__).resolve().parents[2] / "tests/fuzz/corpus/onnx_import/conv_pool.onnx")
ALLOWED = ("Error", "TypeError", "OverflowError")


class Interrupted(Exception):
    """A call has taken long enough."""


def interrupt(*_):
    raise Interrupted


class Misuse:
    """Draws calls and their arguments."""

    def __init__(self, seed, folder):
        import attune
        import attune.onnxruntime
        import numpy

        self.attune, self.numpy, self.folder = attune, numpy, folder
        self.random = random.Random(seed)
        self.plain = attune.zoo("squeezenet1_1")
        self.compiled = self.plain.compile(records="none")
        self.session = self.compiled.session()
        self.closed = self.compiled.session()
        self.closed.close()
        self.onnxruntime = attune.onnxruntime.InferenceSession(MODEL)
        self.compiled.save(folder / "net.atn")
        artifact = (folder / "net.atn").read_bytes()
        (folder / "short.atn").write_bytes(artifact[:len(artifact) // 2])
        (folder / "empty.onnx").write_bytes(b"")
        (folder / "noise.onnx").write_bytes(self.random.randbytes(4000))
        (folder / "folder").mkdir()

    def array(self):
        """An array of a random type, shape and layout."""
        shape = self.random.choice([(1, 3, 224, 224), (3, 224, 224), (1, 3, 224, 223), (0,), (), (1,) * 30, (2, 3)])
        dtype = self.random.choice(["float32", "float64", "float16", "int8", "uint64", "bool", "complex64", "S3", "object",
                                    "datetime64[s]", ">f4", "float32"])
        array = self.numpy.zeros(shape, dtype)
        change = self.random.randrange(5)
        if change == 0:
            array = array.T
        elif change == 1 and array.ndim > 0:
            array = array[..., ::-1]
        elif change == 2:
            array.flags.writeable = False
        elif change == 3:
            array = self.numpy.broadcast_to(self.numpy.zeros((), dtype), shape)
        return array

    def value(self, depth=0):
        """Anything that may stand for an argument."""
        makers = [lambda: None, lambda: self.random.choice([-1, 0, 1, 2, 7, 2**31, 2**63, -2**70, True]),
                  lambda: self.random.choice([0.5, -1.0, float("nan"), float("inf"), 1e300]),
                  lambda: self.random.choice(["", "input", "output", "fp32", "bf16", "mse", "none", "x\0y", "\ud800", "ü" * 300]),
                  lambda: self.random.choice(["net.atn", "short.atn", "empty.onnx", "noise.onnx", "folder", "none.onnx"])
                  .join([str(self.folder) + "/", ""]), self.array, object, lambda: b"\x08\x07", lambda: self.session,
                  lambda: self.compiled, lambda: self.folder, lambda: (lambda *_: None)]
        if depth < 2:
            makers += [lambda: [self.value(depth + 1) for _ in range(self.random.randrange(3))],
                       lambda: {self.random.choice(["input", "x", 3]): self.value(depth + 1)},
                       lambda: (self.value(depth + 1) for _ in range(2))]
        return self.random.choice(makers)()

    def target(self):
        """(name, callable, the names of its arguments)"""
        attune, network = self.attune, self.random.choice([self.plain, self.compiled])
        session = self.random.choice([self.session, self.closed])
        return self.random.choice([
            ("load", attune.load, ["model", "shapes", "values", "signature", "sha256", "device"]),
            ("load", attune.load, ["model"]),
            ("zoo", attune.zoo, ["name"]),
            ("optimize", network.optimize, ["precision", "weights", "passes", "examples"]),
            ("quantize", network.quantize, ["data", "calibration", "percentile", "mixed", "max_drop", "clusters", "threads"]),
            ("tune", network.tune, ["minutes", "trials", "threads", "batch", "seed", "execution_seconds", "records", "events"]),
            ("compile", network.compile, ["cpus", "threads", "records", "compact"]),
            ("save", network.save, ["path"]),
            ("session", network.session, ["threads"]),
            ("run", network.run, ["inputs", "threads"]),
            ("run", network.run, ["inputs"]),
            ("verify", network.verify, ["inputs", "seed", "threads"]),
            ("bench", network.bench, ["seconds", "threads", "inputs", "seed"]),
            ("profile", network.profile, ["rounds", "threads", "inputs"]),
            ("random_input", network.random_input, ["name", "seed"]),
            ("on", network.on, ["device"]),
            ("Session.run", session.run, ["inputs"]),
            ("Session", attune.Session, ["model", "threads"]),
            ("InferenceSession", attune.onnxruntime.InferenceSession, ["path_or_bytes", "sess_options", "providers"]),
            ("InferenceSession.run", self.onnxruntime.run, ["output_names", "input_feed", "run_options"]),
            ("Device.in_fleet", attune.Device.in_fleet, ["key", "server"]),
            ("BenchmarkingContext", attune.BenchmarkingContext, ["target", "device_key", "cpu_arch"]),
            ("Tuner", lambda **arguments: attune.Tuner(self.context()).from_model(**arguments), ["model", "shapes"]),
            ("autotune", lambda **arguments: attune.Tuner(self.context()).from_model("squeezenet1_1").autotune(**arguments),
             ["trials", "timeout", "batch", "minutes", "threads", "seed"]),
            ("Tuner.load", lambda **arguments: attune.Tuner(self.context()).load(**arguments), ["run_id"]),
        ])

    def context(self):
        return self.attune.BenchmarkingContext(workspace=self.folder / "workspace")

    def call(self):
        """Makes one call; (its text, the exception's class or "")."""
        name, function, names = self.target()
        arguments = {argument: self.value() for argument in names if self.random.random() < 0.6}
        text = f"{name}({', '.join(f'{key}={value!r:.60}' for key, value in arguments.items())})"
        print("call", text.replace("\n", " ").encode("ascii", "replace").decode(), flush=True)
        signal.setitimer(signal.ITIMER_REAL, LONGEST_SECONDS)
        try:
            function(**arguments)
        except (Interrupted, self.attune.Error):
            return ""
        except BaseException as error:
            return f"{type(error).__module__}.{type(error).__name__}: {error}" if not self.is_allowed(error) else ""
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return ""

    @staticmethod
    def is_allowed(error):
        return type(error).__name__ in ALLOWED


def misuse(seed, calls):
    """The calls of one process."""
    signal.signal(signal.SIGALRM, interrupt)
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HOME=folder, XDG_DATA_HOME=folder, XDG_CONFIG_HOME=folder, XDG_STATE_HOME=folder,
                          XDG_CACHE_HOME=folder)
        os.chdir(folder)
        user = Misuse(seed, pathlib.Path(folder))
        for _ in range(calls):
            if wrong := user.call():
                print("wrong", wrong.replace("\n", " "), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--of-process", type=int, help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.of_process is not None:
        misuse(flags.of_process, flags.calls)
        return
    counts = collections.Counter()
    for begin in range(0, flags.calls, CALLS_OF_A_PROCESS):
        calls = min(CALLS_OF_A_PROCESS, flags.calls - begin)
        seed = flags.seed + begin
        run = subprocess.run([sys.executable, __file__, "--of-process", str(seed), "--calls", str(calls)],
                             capture_output=True, text=True)
        lines = run.stdout.splitlines()
        for line, after in zip(lines, lines[1:] + [""]):
            if line.startswith("call "):
                counts["calls"] += 1
                if after.startswith("wrong "):
                    counts["wrong exceptions"] += 1
                    print(f"{line[5:]}\n    {after[6:]}")
        if run.returncode != 0:
            counts["crashes"] += 1
            print(f"process {seed} ended with {run.returncode} in {lines[-1] if lines else 'its beginning'}\n"
                  f"    {run.stderr[-2000:]}")
    print(f"{counts['calls']} calls, {counts['crashes']} crashes, {counts['wrong exceptions']} wrong exceptions")
    sys.exit(1 if counts["crashes"] or counts["wrong exceptions"] else 0)


if __name__ == "__main__":
    main()
