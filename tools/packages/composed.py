"""Starts the services of a compose file without a daemon, has them tune a network, and takes them down again.

    sudo python3 -m packages.composed [COMPOSE.yaml] [--network NAME] [--trials N]

Containers run by buildah with its chroot isolation: with files of their own, as the image's user, on this machine's
network. All that it starts ends with it.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from packages import compose
from packages.buildah import Buildah
from packages.release import DIST, ROOT, Failed, exit_status, run

EXAMPLE = ROOT / "docs" / "examples" / "containers" / "compose.yaml"
INSIDE = "ATTUNE_INSIDE_COMPOSED"
UNSHARE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


class Containers:
    """The containers of some services, whose images are in build/dist/."""

    def __init__(self, buildah: Buildah, folder: pathlib.Path) -> None:
        self.buildah, self.folder = buildah, folder
        self.containers: dict[str, str] = {}
        self.started: dict[str, compose.Service] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def container(self, service: compose.Service) -> str:
        """The service's container, made when it is first asked for."""
        if service.name not in self.containers:
            name = service.image.rpartition("/")[2].replace(":", "-")
            self.containers[service.name] = self.buildah("from", f"oci-archive:{DIST / name}.oci.tar")
        return self.containers[service.name]

    def volume(self, service: compose.Service, mount: compose.Mount) -> str:
        """The mount as buildah takes it. A new volume belongs to whom the image's folder does, as everywhere."""
        source = pathlib.Path(mount.source)
        if not mount.source.startswith(("/", ".")):
            source = self.folder / "volumes" / mount.source
            if not source.exists():
                source.mkdir(parents=True)
                root = self.buildah("mount", self.container(service))
                owner = pathlib.Path(root + mount.target).stat()
                os.chown(source, owner.st_uid, owner.st_gid)
        return f"{source.resolve()}:{mount.target}:{'ro' if mount.is_read_only else 'rw'}"

    def command(self, service: compose.Service, words: list[str]) -> list[str]:
        """How a command is run in the service's container."""
        volumes = [f"--volume={self.volume(service, mount)}" for mount in service.mounts]
        variables = [f"--env={name}={value}" for name, value in service.environment.items()]
        return self.buildah.command("run", "--isolation", "chroot", *variables, *volumes, self.container(service), "--",
                                    *words)

    def whole_command(self, service: compose.Service, more: list[str]) -> list[str]:
        """The service's own command, with more arguments."""
        entrypoint = service.entrypoint
        if entrypoint is None:
            facts = json.loads(self.buildah("inspect", "--type", "container", self.container(service)))
            entrypoint = facts["OCIv1"]["config"]["Entrypoint"]
        return self.command(service, [*entrypoint, *service.command, *more])

    def finish(self, service: compose.Service, more: list[str]) -> str:
        """Runs the service until it ends, and returns what it prints."""
        return run(*self.whole_command(service, more))

    def start(self, service: compose.Service) -> None:
        with (self.folder / f"{service.name}.log").open("ab") as log:
            self.running[service.name] = subprocess.Popen(self.whole_command(service, []), stdout=log, stderr=log)
        self.started[service.name] = service

    def revive(self) -> None:
        """Starts the services again that have failed and ask for that."""
        for name, service in self.started.items():
            if self.running[name].poll() and service.is_restarted:
                self.start(service)

    def await_health(self, service: compose.Service) -> str:
        """Waits as the service's health check says, and returns what that prints."""
        assert service.health is not None
        why = ""
        for _ in range(service.health.retries):
            self.revive()
            if self.running[service.name].poll() is not None:
                break
            try:
                done = subprocess.run(self.command(service, service.health.command), capture_output=True, text=True,
                                      timeout=service.health.timeout, check=False)
            except subprocess.TimeoutExpired as error:
                why = str(error)
                continue
            if done.returncode == 0:
                return done.stdout.strip()
            why = done.stderr.strip()
            time.sleep(service.health.interval)
        logs = "\n".join(f"{name}: {(self.folder / f'{name}.log').read_text()}" for name in self.started)
        raise Failed(f"service {service.name} is not well: {why}\n{logs}")

    def stop(self) -> None:
        """Ends all services, the latest first."""
        for process in reversed(self.running.values()):
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def up(containers: Containers, services: dict[str, compose.Service]) -> None:
    """Starts all services that are not on demand, each once those that it depends on are well, and waits until all are."""
    wanted = [service for service in services.values() if not service.is_on_demand]
    for service in wanted:
        for first in service.after:
            containers.await_health(services[first])
        containers.start(service)
    for service in wanted:
        if service.health is not None:
            print(f"{service.name}: {containers.await_health(service)}")


def tune(containers: Containers, services: dict[str, compose.Service], network: str, trials: int) -> None:
    """Has the fleet tune a network of the zoo, as a user does, and the runtime's image run it."""
    attune = services["attune"]
    containers.finish(attune, ["zoo", network, "-o", "network.onnx"])
    print(containers.finish(attune, ["fleet", "list"]))
    tuned = json.loads(containers.finish(attune, ["tune", "network.onnx", "--on", "desk", "--trials", str(trials),
                                                  "--threads", "1", "-o", "network.atn", "--json", "-"]))
    print(f"tuned {network} on a device of the fleet: {tuned['trials']} trials")
    print(containers.finish(attune, ["bench", "network.atn", "--on", "desk", "--seconds", "1"]))
    print(containers.finish(services["runtime"], ["/models/network.atn", "1"]))


def drive(arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="attune-composed-") as name, Buildah() as buildah:
        folder = pathlib.Path(name)
        workspace = folder / "workspace"
        workspace.mkdir()
        workspace.chmod(0o1777)
        services = compose.read(arguments.file, {"ATTUNE_WORKSPACE": str(workspace), "ATTUNE_MODELS": str(workspace)})
        containers = Containers(buildah, folder)
        try:
            up(containers, services)
            tune(containers, services, arguments.network, arguments.trials)
        finally:
            containers.stop()
        print("all services have ended")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=pathlib.Path, default=EXAMPLE, metavar="COMPOSE.yaml")
    parser.add_argument("--network", default="squeezenet1_1", help="of attune zoo (default: %(default)s)")
    parser.add_argument("--trials", type=int, default=8)
    arguments = parser.parse_args()
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        os.execvp(UNSHARE[0], [*UNSHARE, sys.executable, "-m", "packages.composed", *sys.argv[1:]])
    return exit_status(lambda: drive(arguments))


if __name__ == "__main__":
    sys.exit(main())
