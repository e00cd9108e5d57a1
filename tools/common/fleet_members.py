"""Processes of a fleet on this machine, for scripts that drive one."""
import contextlib
import os
import re
import signal
import subprocess
import time

from common import program
from common.program import Failed, attune, attune_json
from common.waiting import await_true

KEY = "desk"  # that devices can be asked for by


class Member:
    """A process of the fleet, started anew when it was killed. Its log is kept."""

    def __init__(self, command, log):
        self.command, self.log, self._process = command, log, None
        self.start()

    def start(self):
        with self.log.open("ab") as log:
            self._process = subprocess.Popen([str(part) for part in self.command], stdout=log, stderr=log,
                                             start_new_session=True)

    def pid(self):
        return self._process.pid

    def ended(self):
        """Its exit code; None while it runs."""
        return self._process.poll()

    def kill(self):
        """Kills it, and waits until it is gone."""
        self._process.kill()
        self._process.wait()

    @contextlib.contextmanager
    def stopped(self):
        """Lets it stand still meanwhile."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def stop_for(self, seconds):
        """Lets it stand still for this long."""
        with self.stopped():
            time.sleep(seconds)

    def interrupt(self):
        """Asks it to end, and waits until it has."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait()


class Fleet:
    """A server and agents, in a folder. From now on, `attune fleet` and --on use this server. Ends them in the end.

    `options`: more flags of the server.
    """

    def __init__(self, folder, executable, lease_seconds, options=()):
        self._program, self._folder, self._lease_seconds, self._options = executable, folder, lease_seconds, options
        own = {"ATTUNE_SERVER": str(folder / "server"), "ATTUNE_FLEET": str(folder / "nobody")}
        os.environ.update(own)
        program.ENVIRONMENT.update(own)
        self.members = {"server": self._start_server("127.0.0.1:0", "127.0.0.1:0")}
        # From now on it has the same ports.
        addresses = self.await_server()
        self._options = [self._rest_address() if before == "--http" else option
                         for before, option in zip(["", *self._options], self._options)]
        self.members["server"].interrupt()
        self.members["server"] = self._start_server(*addresses)
        self.await_server()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for member in self.members.values():
            if member.ended() is None:
                member.kill()

    def _start_server(self, listen, enrolment):
        return Member([self._program, "server", "--listen", listen, "--enrolment", enrolment, "--lease-seconds",
                       self._lease_seconds, *self._options], self._folder / "server.log")

    def _rest_address(self):
        """Where the server listens for REST."""
        return await_true("the server listens for REST",
                          lambda: self._is_there() and re.findall(r"REST at https?://([^/]+)/", self.server_log()), 0.05)[-1]

    def _is_there(self):
        """True. Raises Failed if the server has ended."""
        if self.members["server"].ended() is not None:
            raise Failed(f"the server has ended: {self.server_log()[-500:]}")
        return True

    def log_in(self):
        """From now on, `attune jobs` uses this server, which has --http."""
        token = attune("server", "token", "scripts", program=self._program).strip()
        own = {"ATTUNE_URL": f"http://{self._rest_address()}", "ATTUNE_TOKEN": token,
               "ATTUNE_SERVERS": str(self._folder / "servers.json"),
               "ATTUNE_SUBMISSIONS": str(self._folder / "submissions")}
        os.environ.update(own)
        program.ENVIRONMENT.update(own)

    def state(self):
        """The folder of the server's state."""
        return self._folder / "server"

    def server_log(self):
        """Returns the server's output."""
        return (self._folder / "server.log").read_text()

    def await_server(self):
        """Waits until the server answers; returns the addresses that it has said."""
        def answers():
            self._is_there()
            with contextlib.suppress(Failed):
                self.devices()
                return True
            return False
        await_true("the server answers", answers, 0.05)
        return re.findall(r"serving at (\S+), enrolment at ([^;]+);", self.server_log())[-1]

    def devices(self):
        """The devices that are there."""
        devices = attune_json("fleet", "list", program=self._program)["devices"]
        return [device for device in devices if device["is_there"]]

    def add_mocks(self, name, mocks, seconds, count=1):
        """Starts a process of `count` agents, whose devices answer after this many seconds."""
        self._await_more(count, name, [mocks, self._folder / "server", self._folder / name, KEY, count, seconds])

    def add_agent(self, name, key, processor=None, owner="server"):
        """Starts an agent that offers this machine, or one of its processors."""
        invitation = self._invitation(name, "agent", owner)
        pinned = [] if processor is None else ["taskset", "--cpu-list", processor]
        self._await_more(1, name, [*pinned, self._program, "agent", "--invitation-file", invitation, "--state",
                                   self._folder / name, "--key", key, "--trust", "server"])

    def _invitation(self, name, role, owner):
        """A file with an invitation, which arguments would show to others."""
        text = attune("fleet", "invite", "--role", role, "--owner", owner, program=self._program)
        path = self._folder / f"{name}.invitation"
        with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        return path

    def add_runner(self, name, tenant="server"):
        """Starts a machine that runs the jobs that the tenant submits to the server."""
        invitation = self._invitation(name, "runner", tenant)
        self.members[name] = Member([self._program, "runner", "--invitation-file", invitation, "--state",
                                     self._folder / name], self._folder / f"{name}.log")
        while "running jobs" not in self.members[name].log.read_text():
            if self.members[name].ended() is not None:
                raise Failed(f"{name} has ended: {self.members[name].log.read_text()[-500:]}")
            time.sleep(0.05)
        # From now on it has its credentials.
        self.members[name].command = [self._program, "runner", "--state", self._folder / name]

    def _await_more(self, count, name, command):
        wanted = len(self.devices()) + count
        self.members[name] = Member(command, self._folder / f"{name}.log")
        while len(self.devices()) < wanted:
            if self.members[name].ended() is not None:
                raise Failed(f"{name} has ended: {self.members[name].log.read_text()[-500:]}")
            time.sleep(0.05)

    def remove(self, name):
        """Ends a member."""
        self.members.pop(name).kill()

    def refused(self):
        """How many results the server has refused."""
        return self.members["server"].log.read_text().count("result under a stale token is refused")
