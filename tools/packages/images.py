"""Makes the container images in build/dist/ from the Debian packages there: compiler, agent and server, which share all
files, and the runtime alone. The same commit and the same packages of Debian give the same digests.

    python3 -m packages.images [--twice]
"""
import argparse
import filecmp
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

from packages import debian, oci
from packages.buildah import Buildah
from packages.release import BUILD, DIST, ROOT, Failed, commit, exit_status, run, source_date, version

# Each image's command, to which what a user types is added, and what it is for.
COMMANDS = {"compiler": (["attune"], "compiles and tunes networks"),
            "agent": (["attune", "agent"], "offers its machine to a fleet"),
            "server": (["attune", "server"], "serves a fleet")}
USER = 1000
# The folders for volumes, which belong to the user.
MOUNTED = ("workspace", "models", "server", "agent", "leases", "state")
MOST_RUNTIME_BYTES = 30_000_000
LIBRARIES = pathlib.Path("usr/lib/x86_64-linux-gnu")
LOADER = pathlib.Path("lib64/ld-linux-x86-64.so.2")
# Files that dpkg and ldconfig write with the time of day.
DATED = ("var/log", "var/cache/ldconfig", "var/lib/dpkg/status-old", "var/cache/apt", "var/lib/apt/lists")


def image_name(name: str) -> str:
    return f"attune-{name}:{version()}"


def make_base(buildah: Buildah, work: pathlib.Path, debs: list[pathlib.Path]) -> None:
    """The image `base`: Debian's packages that Attune needs."""
    archive = work / "base.tar"
    debian.make_root(archive, "essential", debian.dependencies(debs), debian.LEFT_OUT)
    container = buildah("from", "scratch")
    root = buildah("mount", container)
    run("tar", "-x", "-f", archive, "-C", root, "--exclude=./dev/*")
    archive.unlink()
    clean(pathlib.Path(root))
    commit_image(buildah, container, "base")
    buildah("rm", container)


def clean(root: pathlib.Path) -> None:
    """Removes what is of no use in an image, or of another content each time."""
    shutil.rmtree(root / "etc/apt", ignore_errors=True)  # this machine's sources
    for name in DATED:
        path = root / name
        if path.is_dir():
            shutil.rmtree(path)
            path.mkdir()
        else:
            path.unlink(missing_ok=True)


def commit_image(buildah: Buildah, container: str, name: str) -> None:
    buildah("commit", "--quiet", "--timestamp", source_date(), container, name)


def make_program_images(buildah: Buildah, debs: list[pathlib.Path]) -> None:
    """The images of the programs. Their second layer is the packages."""
    container = buildah("from", "base")
    root = pathlib.Path(buildah("mount", container))
    for deb in debs:
        shutil.copyfile(deb, root / deb.name)
    run("chroot", root, "dpkg", "--install", *[f"/{deb.name}" for deb in debs],
        env={"LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"})
    for deb in debs:
        (root / deb.name).unlink()
    clean(root)
    for file, line in (("passwd", f"attune:x:{USER}:{USER}::/workspace:/bin/sh"), ("group", f"attune:x:{USER}:")):
        with (root / "etc" / file).open("a") as out:
            out.write(line + "\n")
    for folder in MOUNTED:
        (root / folder).mkdir()
        os.chown(root / folder, USER, USER)
    for name, (command, summary) in COMMANDS.items():
        configure(buildah, container, command, summary, f"{USER}:{USER}")
        buildah("config", "--workingdir", "/workspace", "--env", "HOME=/workspace", "--env", "ATTUNE_SERVER=/server",
                "--env", "ATTUNE_AGENT=/agent", container)
        commit_image(buildah, container, image_name(name))
    buildah("rm", container)


def configure(buildah: Buildah, container: str, command: list[str], summary: str, user: str) -> None:
    labels = {"title": f"Attune: {summary}", "version": version(), "revision": commit("%H"),
              "licenses": "Apache-2.0"}
    buildah("config", "--entrypoint", json.dumps(command), "--cmd", "", "--user", user,
            *[word for key, value in labels.items() for word in ("--label", f"org.opencontainers.image.{key}={value}")],
            container)


def needed_libraries(file: pathlib.Path, folders: list[pathlib.Path]) -> dict[str, pathlib.Path]:
    """The shared libraries that a program or library needs, from these folders."""
    found: dict[str, pathlib.Path] = {}
    waiting = [file]
    while waiting:
        for name in re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", waiting.pop())):
            if name not in found and name != LOADER.name:
                found[name] = next(folder / name for folder in folders if (folder / name).exists())
                waiting.append(found[name])
    return found


def make_runtime_image(buildah: Buildah, work: pathlib.Path) -> int:
    """The image of the runtime and a program that runs an artifact with it, made of nothing else than the libraries
    that these need. Returns the bytes of its files."""
    base = buildah("from", "base")
    debian_root = pathlib.Path(buildah("mount", base))
    program = work / "run_model"
    run("clang-19", "-O2", "-s", "-I", ROOT / "include", ROOT / "docs/examples/run_model.c", "-L", BUILD / "lib",
        "-lattune_runtime", "-o", program)
    container = buildah("from", "scratch")
    root = pathlib.Path(buildah("mount", container))
    for folder in ("bin", LOADER.parent, LIBRARIES, "models"):
        (root / folder).mkdir(parents=True)
    shutil.copy(program, root / "bin")
    shutil.copy(debian_root / LOADER, root / LOADER)
    for name, path in needed_libraries(program, [debian_root / LIBRARIES, BUILD / "lib"]).items():
        shutil.copy(path, root / LIBRARIES / name)
        run("strip", "--strip-unneeded", root / LIBRARIES / name)
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    if size > MOST_RUNTIME_BYTES:
        raise Failed(f"the runtime's image has {size} bytes, more than {MOST_RUNTIME_BYTES}")
    configure(buildah, container, ["/bin/run_model"], "runs a compiled network", "65534:65534")
    commit_image(buildah, container, image_name("runtime"))
    buildah("rm", base, container)
    return size


def make_images(dist: pathlib.Path) -> list[pathlib.Path]:
    """Returns the archives."""
    debs = debian.packages_in(DIST)
    archives = []
    with Buildah() as buildah, tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        make_base(buildah, work, debs)
        make_program_images(buildah, debs)
        print(f"files of the runtime's image: {make_runtime_image(buildah, work) / 1e6:.1f} MB")
        for name in (*COMMANDS, "runtime"):
            archives.append(dist / f"attune-{name}-{version()}.oci.tar")
            buildah("push", "--quiet", image_name(name), f"oci:{work}/layout:{image_name(name)}")
            oci.write_archive(work / "layout", image_name(name), archives[-1])
            print(f"{archives[-1].name}: {archives[-1].stat().st_size / 1e6:.1f} MB, "
                  f"{oci.entry(work / 'layout', image_name(name))['digest']}, in layers:")
            for layer in oci.manifest(work / "layout", image_name(name))["layers"]:
                print(f"    {layer['size'] / 1e6:6.1f} MB  {layer['digest']}")
    return archives


def make_and_compare(twice: bool) -> None:
    if os.geteuid() != 0:
        raise Failed("images are made as root, since their files have several owners; use sudo")
    archives = make_images(DIST)
    if not twice:
        return
    with tempfile.TemporaryDirectory() as again:
        for first, second in zip(archives, make_images(pathlib.Path(again))):
            if not filecmp.cmp(first, second, shallow=False):
                raise Failed(f"{first.name}: another one comes out the second time")
    print("the same bytes twice")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--twice", action="store_true", help="make them again, and compare the bytes")
    arguments = parser.parse_args()
    return exit_status(lambda: make_and_compare(arguments.twice))


if __name__ == "__main__":
    sys.exit(main())
