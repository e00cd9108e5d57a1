"""A stand-in for podman or docker, for tests: containers are processes of this machine.

stand_in_engine.py FOLDER ENGINE ARGUMENT... FOLDER: the engine's state; its bin/ has the programs of all images

It knows the commands and flags that Attune uses, and refuses every other one, so that what Attune asks for is what both
engines understand. A volume is a folder, whose path takes the place of the path that it is mounted at; a network is a
name; a port that is listened at is one of the loopback. Nothing is fenced in.
"""
import concurrent.futures
import contextlib
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

FOLDER, ENGINE = pathlib.Path(sys.argv[1]), sys.argv[2]
LABELLED = {"--label"}
LISTS = {"--filter", "--format"}
CONFINED = {"--pull", "--label", "--user", "--tmpfs", "--cap-drop", "--security-opt", "--volume", "--env", "--network",
            "--entrypoint", "--name", "--restart", "--publish", "--log-driver"}
# The flags of each command: those with a value, and those without.
COMMANDS = {"--version": (set(), set()), "image inspect": (set(), set()), "container inspect": (set(), set()),
            "network create": (LABELLED, set()), "network ls": (LISTS, set()), "network rm": (set(), set()),
            "volume create": (LABELLED, set()), "volume ls": (LISTS, set()), "volume rm": (set(), set()),
            "run": (CONFINED, {"--detach", "--rm", "--read-only"}), "ps": (LISTS, {"--all"}),
            "exec": (set(), {"--interactive"}), "stop": ({"-t"}, set()), "rm": (set(), {"--force", "--volumes"}),
            "logs": ({"--tail"}, set()), "cp": (set(), set()), "keep": (set(), set())}
ONLY = {"--pull": {"never"}, "--restart": {"always"}, "--cap-drop": {"all"}, "--log-driver": {"none"},
        "--security-opt": {"no-new-privileges"}, "--format": {"{{.Name}}", "{{.Names}}"}}


class Refused(Exception):
    """The request is not possible."""


@contextlib.contextmanager
def kept():
    """The engine's state, for one process at a time: containers by name, networks and volumes with their labels."""
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = FOLDER / "state.json"
        state = json.loads(path.read_text()) if path.exists() else {
            "containers": {}, "network": {}, "volume": {}, "ports": {}}
        yield state
        path.write_text(json.dumps(state, indent=1))


def parsed(words):
    """The command, its flags with lists of values, and what follows them."""
    command = words[0] if words[0] in COMMANDS else " ".join(words[:2])
    if command not in COMMANDS:
        raise Refused(f"unknown command {command}")
    with_value, without = COMMANDS[command]
    rest, flags = words[len(command.split()):], {}
    while rest and rest[0].startswith("-"):
        flag = rest.pop(0)
        if flag not in with_value | without:
            raise Refused(f"{command}: unknown flag {flag}")
        value = rest.pop(0) if flag in with_value else ""
        if value not in ONLY.get(flag, {value}):
            raise Refused(f"{command}: {flag} {value}")
        flags.setdefault(flag, []).append(value)
    return command, flags, rest


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def is_running(pid):
    """Whether there is such a process, other than one that has ended and was not waited for."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Container:
    """A container: where its paths lead, and how a command is run in it."""

    def __init__(self, fields):
        self.fields = fields
        self.name = fields["name"]
        self.folder = FOLDER / "containers" / self.name

    def inside(self, text):
        """A text with the paths of mounts, and addresses to listen at, as they are on this machine."""
        mounts = self.fields["mounts"]
        text = re.sub(rf"(?<![\w./-])({'|'.join(mounts)})(?![\w.-])", lambda found: mounts[found[1]], text)
        for port, address in self.fields["ports"].items():
            text = text.replace(f"0.0.0.0:{port}", address)
        return re.sub(rf"^{re.escape(self.name)}$", "127.0.0.1", text)

    def outside(self, text):
        """A text as it would be printed in the container."""
        for target, folder in self.fields["mounts"].items():
            text = text.replace(folder, target)
        return text

    def start(self, words, **streams):
        environment = {"PATH": f"{FOLDER}/bin:/usr/bin:/bin",
                       **{name: self.inside(value) for name, value in self.fields["environment"].items()}}
        return subprocess.Popen([self.inside(word) for word in words], env=environment, **streams)

    def finish(self, words, takes_input):
        """Runs the words to their end, and returns the exit status."""
        process = self.start(words, stdin=None if takes_input else subprocess.DEVNULL, stdout=subprocess.PIPE)
        print(self.outside(process.communicate()[0].decode()), end="", flush=True)
        return process.returncode

    def fact(self, name, default):
        path = self.folder / name
        return int(path.read_text() or default) if path.exists() else default

    def keep(self):
        """Runs the container, and again whenever it ends, until it is to stop."""
        restarts = 0
        while not (self.folder / "stop").exists():
            with (self.folder / "log").open("ab") as log:
                process = self.start(self.fields["words"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            (self.folder / "pid").write_text(str(process.pid))
            status = process.wait()
            (self.folder / "pid").write_text("0")
            (self.folder / "exit").write_text(str(status if status >= 0 else 128 - status))
            restarts += 1
            (self.folder / "restarts").write_text(str(restarts))
            if not (self.folder / "stop").exists():
                time.sleep(0.1)

    def stop(self, seconds):
        (self.folder / "stop").touch()
        deadline, asked = time.monotonic() + seconds, 0
        while is_running(self.fact("keeper", 0)):
            pid, is_late = self.fact("pid", 0), time.monotonic() >= deadline
            if pid > 0 and (is_late or pid != asked):
                asked = pid  # a second request would count as impatience
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL if is_late else signal.SIGTERM)
            time.sleep(0.02)

    def described(self):
        pid = self.fact("pid", 0)
        name = f"/{self.name}" if ENGINE == "docker" else self.name
        return {"Name": name, "RestartCount": self.fact("restarts", 0),
                "State": {"Status": "running" if pid else "restarting", "Pid": pid, "ExitCode": self.fact("exit", 0)}}


def made(state, flags, image, words):
    """The fields of a new container."""
    if image not in (FOLDER / "images").read_text().split():
        raise Refused(f"{image}: no such image")
    network, = flags["--network"]
    if network != "none" and network not in state["network"]:
        raise Refused(f"{network}: no such network")
    name = flags.get("--name", ["once"])[0]
    if name in state["containers"]:
        raise Refused(f"{name}: is there already")
    folder = FOLDER / "containers" / name
    mounts = {target: str(folder / target[1:]) for target in flags.get("--tmpfs", [])}
    for volume in flags["--volume"]:
        source, target = volume.split(":")
        if source not in state["volume"]:
            raise Refused(f"{source}: no such volume")
        mounts[target] = str(FOLDER / "volumes" / source)
    for path in mounts.values():
        pathlib.Path(path).mkdir(parents=True, exist_ok=True)
    ports = {}
    for word in words:
        if word.startswith("0.0.0.0:"):
            port = word.split(":")[1]
            ports[port] = f"127.0.0.1:{state['ports'].setdefault(f'{name}:{port}', free_port())}"
    for publish in flags.get("--publish", []):
        address, port = publish.rsplit(":", 1)
        if not address.startswith("127.0.0.1:"):
            raise Refused(f"{publish}: is reached from elsewhere")
        ports[port] = address
    return {"name": name, "label": flags["--label"][0], "mounts": mounts, "ports": ports,
            "environment": dict(pair.split("=", 1) for pair in flags["--env"]),
            "words": [flags["--entrypoint"][0], *words]}


def run(flags, rest):
    image, *words = rest
    with kept() as state:
        fields = made(state, flags, image, words)
        if "--detach" in flags:
            state["containers"][fields["name"]] = fields
    container = Container(fields)
    if "--detach" not in flags:
        return container.finish(fields["words"], takes_input=False)
    keeper = subprocess.Popen([sys.executable, __file__, str(FOLDER), ENGINE, "keep", container.name],
                              start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    (container.folder / "keeper").write_text(str(keeper.pid))
    while not (container.folder / "pid").exists():
        time.sleep(0.02)
    return 0


def remove(state, name):
    container = Container(state["containers"][name])
    container.stop(0)
    del state["containers"][name]
    shutil.rmtree(container.folder)


def resource(kind, verb, flags, names):
    """Networks and volumes."""
    with kept() as state:
        if verb == "ls":
            label = flags["--filter"][0].removeprefix("label=")
            print("".join(f"{name}\n" for name, of in state[kind].items() if of == label), end="")
        for name in names:
            if verb == "create":
                state[kind][name] = flags["--label"][0]
                continue
            if name not in state[kind]:
                raise Refused(f"{name}: no such {kind}")
            folder = FOLDER / "volumes" / name
            if any(str(folder) in fields["mounts"].values() for fields in state["containers"].values()):
                raise Refused(f"{name}: is in use")
            del state[kind][name]
            shutil.rmtree(folder, ignore_errors=True)


def main():
    command, flags, rest = parsed(sys.argv[3:])
    if command == "--version":
        print(f"{ENGINE} version 0 (stand-in)")
        return 0
    if command == "image inspect":
        return 0 if rest[0] in (FOLDER / "images").read_text().split() else 1
    if command.split()[0] in ("network", "volume"):
        return resource(*command.split(), flags, rest)
    if command == "run":
        return run(flags, rest)
    with kept() as state:
        containers = {name: Container(fields) for name, fields in state["containers"].items()}
        if command == "rm":
            for name in rest:
                remove(state, name)
    if command == "ps":
        label = flags["--filter"][0].removeprefix("label=")
        print("".join(f"{name}\n" for name, container in containers.items() if container.fields["label"] == label),
              end="")
    elif command == "container inspect":
        print(json.dumps([containers[name].described() for name in rest]))
    elif command == "exec":
        return containers[rest[0]].finish(rest[1:], "--interactive" in flags)
    elif command == "stop":
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(lambda name: containers[name].stop(float(flags["-t"][0])), rest))
    elif command == "logs":
        lines = (containers[rest[0]].folder / "log").read_text().splitlines()[-int(flags["--tail"][0]):]
        print("\n".join(lines), file=sys.stderr)
    elif command == "cp":
        name, path = rest[0].split(":")
        shutil.copy(containers[name].inside(path), rest[1])
    elif command == "keep":
        containers[rest[0]].keep()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as error:
        sys.exit(f"Error: {error}")
