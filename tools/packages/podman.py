"""Runs the commands of docs/guides/packages.md for images with a real podman, and those for the compose file too where
podman-compose is installed. Where docker-compose is (Debian has it), it reads that file, for which it needs no engine.

    python3 -m packages.podman [--network NAME] [--trials N]

Loads the images of build/dist/, which stay, and works in a folder of its own. Without podman it skips all of that, with
status 77.
"""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time

from packages import compose
from packages.release import DIST, ROOT, Failed, exit_status, run, version

CONTAINERS = ROOT / "docs" / "examples" / "containers"
COMPOSE_FILE = CONTAINERS / "compose.yaml"
SKIPPED = 77
WAIT_S = 300


def image(name: str) -> str:
    return f"localhost/attune-{name}:{version()}"


def say(*command: object, cwd: pathlib.Path) -> str:
    """Runs a command as a user does, and shows it with what it prints."""
    print("$", *command, flush=True)
    said = run(*command, cwd=cwd)
    print(said, end="", flush=True)
    return said


def load() -> None:
    archives = sorted(DIST.glob("attune-*.oci.tar"))
    if not archives:
        raise Failed(f"{DIST} has no images; make them with ./do images")
    for archive in archives:
        say("podman", "load", "--quiet", "-i", archive, cwd=DIST)


def run_images(folder: pathlib.Path, network: str) -> None:
    """Compiles and runs a network of the zoo by single containers."""
    say(CONTAINERS / "attune-in-container", "zoo", network, "-o", "zoo.onnx", cwd=folder)
    user = "--user=0:0" if os.getuid() == 0 else "--userns=keep-id"
    say("podman", "run", "--rm", user, "-v", f"{folder}:/workspace", image("compiler"), "compile", "zoo.onnx", "-o", "zoo.atn",
        cwd=folder)
    say("podman", "run", "--rm", "-v", f"{folder}:/models:ro", image("runtime"), "/models/zoo.atn", "1", cwd=folder)


def await_agents(tool: list[object], folder: pathlib.Path) -> None:
    """Waits until the fleet lists both agents."""
    end = time.monotonic() + WAIT_S
    while True:
        try:
            listed = run(*tool, "attune", "fleet", "list", cwd=folder)
        except Failed as error:
            listed = str(error)
        if listed.count("desk") >= 2:
            print(listed, end="")
            return
        if time.monotonic() > end:
            raise Failed(f"the agents have not come in {WAIT_S} s:\n{listed}")
        time.sleep(2)


def read_compose() -> None:
    """Has docker-compose read the compose file, and checks that it finds the services that we do."""
    if shutil.which("docker-compose") is None:
        print("docker-compose is not installed (apt install docker-compose): it has not read the compose file")
        return
    said = run("docker-compose", "--profile", "tools", "--file", COMPOSE_FILE, "config", "--services")
    ours = set(compose.read(COMPOSE_FILE, {}))
    if set(said.split()) != ours:
        raise Failed(f"{COMPOSE_FILE}: docker-compose finds the services {said.split()}, and not {sorted(ours)}")
    print(f"docker-compose takes {COMPOSE_FILE.name}, with {len(ours)} services")


def run_compose(folder: pathlib.Path, trials: int) -> None:
    """Has the fleet of the compose file tune the network."""
    shutil.copy(COMPOSE_FILE, folder)
    tool: list[object] = ["podman-compose", "--profile", "tools", "run", "--rm"]
    try:
        say("podman-compose", "up", "--detach", cwd=folder)
        await_agents(tool, folder)
        say(*tool, "attune", "tune", "/models/zoo.onnx", "--on", "desk", "--trials", trials, "-o", "tuned.atn", cwd=folder)
        say(*tool, "runtime", "/models/tuned.atn", "1", cwd=folder)
    finally:
        say("podman-compose", "down", "--volumes", cwd=folder)


def drive(arguments: argparse.Namespace) -> None:
    load()
    with tempfile.TemporaryDirectory(prefix="attune-podman-") as name:
        folder = pathlib.Path(name)
        # The user in a container of the compose file is not this one.
        folder.chmod(0o1777)
        run_images(folder, arguments.network)
        if shutil.which("podman-compose"):
            run_compose(folder, arguments.trials)
        else:
            print("podman-compose is not installed (pip install podman-compose): the compose file was not tried")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", default="squeezenet1_1", help="of attune zoo (default: %(default)s)")
    parser.add_argument("--trials", type=int, default=8)
    arguments = parser.parse_args()
    if (status := exit_status(read_compose)) != 0:
        return status
    if shutil.which("podman") is None:
        print("podman is not installed")
        return SKIPPED
    return exit_status(lambda: drive(arguments))


if __name__ == "__main__":
    sys.exit(main())
