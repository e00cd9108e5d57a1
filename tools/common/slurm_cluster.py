"""A Slurm cluster of its own on this machine: munged, slurmctld and four slurmd on the loopback interface.

It lives in namespaces of its own, in which the machine has another name and other host names, and with whose first
process every other one ends: no system service is started, and nothing of the machine's configuration is touched.
"""
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys

from common.fleet_members import Member
from common.waiting import await_true

NODES = 4
HOST = "slurmbox"
PARTITION = "main"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
UNSHARE = ["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
INSIDE = "ATTUNE_INSIDE_SLURM_CLUSTER"

# Nodes declare more processors than the machine has. Nothing listens beyond the loopback interface, nothing needs
# cgroups, and a job that has ended is forgotten soon.
CONFIGURATION = """
ClusterName=attune
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=10
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SlurmUser=root
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdSpoolDir={folder}/%n
SlurmdPidFile={folder}/%n.pid
SlurmdTimeout=15
KillWait=5
MinJobAge=10
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{node_ports}] CPUs={cpus} State=UNKNOWN
PartitionName={partition} Nodes=ALL Default=YES State=UP
"""


def why_not():
    """Why there can be no cluster here, in one line; None if there can."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    if missing := [name for name in PROGRAMS if not shutil.which(name, path=path)]:
        return f"not installed: {', '.join(missing)}"
    if os.geteuid() != 0:
        return "slurmctld and slurmd are started as root only"
    if subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode != 0:
        return "this machine allows no namespaces"
    return None


def enter_namespaces():
    """Runs this script once more in namespaces of its own, and exits as that does; returns where it is in them."""
    if INSIDE not in os.environ:
        sys.exit(subprocess.run([*UNSHARE, sys.executable, *sys.argv], check=False,
                                env={**os.environ, INSIDE: "1"}).returncode)
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    subprocess.run(["hostname", HOST], check=True)


def free_ports(count):
    """Returns free ports in a row."""
    while True:
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            first = stack.enter_context(socket.socket())
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            for offset in range(1, count):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port + offset))
            return range(port, port + count)


class Cluster:
    """The cluster, from the beginning of the `with` block to its end; `cpus`: of each of its nodes."""

    def __init__(self, folder, cpus=8):
        self._folder, self._cpus = pathlib.Path(folder), cpus
        self._stack = contextlib.ExitStack()
        self._controller = None

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self._configure()
            self._start(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _configure(self):
        folder = self._folder
        for name in ("munge", "state"):
            (folder / name).mkdir(mode=0o700)
        (folder / "munge/key").write_bytes(os.urandom(1024))
        (folder / "munge/key").chmod(0o600)
        (folder / "hosts").write_text(f"127.0.0.1 localhost {HOST}\n")
        subprocess.run(["mount", "--bind", folder / "hosts", "/etc/hosts"], check=True)
        ports = free_ports(1 + NODES)
        (folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=HOST, folder=folder, nodes=NODES, cpus=self._cpus, partition=PARTITION, controller_port=ports[0],
            node_ports=f"{ports[1]}-{ports[-1]}"))
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")

    def _start(self, stack):
        munge = self._folder / "munge"
        self._run(stack, "munged", "munged", "--foreground", "--force",
                  *(f"--{name}={munge / name.removesuffix('-file')}"
                    for name in ("key-file", "socket", "pid-file", "log-file", "seed-file")))
        await_true("munged listens", (munge / "socket").exists)
        self._controller = self._run(stack, "slurmctld", "slurmctld", "-D")
        for number in range(1, NODES + 1):
            self._run(stack, f"n{number}", "slurmd", "-D", "-N", f"n{number}")
        await_true("all nodes are idle", lambda: self._ask("sinfo", "-h", "-t", "idle", "-o", "%D") == str(NODES))

    def _run(self, stack, name, *command):
        """Starts a process that ends with the stack."""
        process = Member(command, self._folder / f"{name}.log")
        stack.callback(process.kill)
        return process

    @staticmethod
    def _ask(*command):
        """Returns the output of the command; None if it fails."""
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return result.stdout.strip() if result.returncode == 0 else None

    def jobs(self):
        """The names of all jobs that have not ended; None if slurmctld does not answer."""
        names = self._ask("squeue", "-h", "-o", "%j")
        return None if names is None else names.splitlines()

    def kill_controller(self):
        """kill -9, in the middle of whatever slurmctld does."""
        self._controller.kill()

    def start_controller(self):
        """Starts slurmctld again, with what it had saved."""
        self._controller.start()
        await_true("slurmctld answers", lambda: self.jobs() is not None)
