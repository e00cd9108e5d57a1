"""Makes in build/deps what portable binaries are linked with: archives, and what stands for an old C library.

    python3 -m packages.deps

Some 9 minutes of a processor from nothing. Nothing is made again whose recipe and version are those of last time.
"""
import hashlib
import os
import pathlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable

from packages.apt import Apt, installed_version
from packages.deps.recipes import CMAKE, FLAGS, FROM_DEBIAN, RECIPES, WITH_STREAMS, Recipe
from packages.deps.sysroot import ZIG, make_sysroot, zig
from packages.release import ROOT, exit_status, run

OUT = ROOT / "build" / "deps"
HERE = pathlib.Path(__file__).resolve().parent
DEBIAN_LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
# The C library whose names the binaries are linked with, and that of the runtime, which is to go where old systems are.
GLIBC, GLIBC_OF_RUNTIME = "2.28", "2.17"
PYTHON_FROM, PYTHON_PACKAGE = "trixie", "libpython3.13-dev"


def once(name: str, recipe: str, make: Callable[[], None]) -> None:
    """Makes something, unless it was made by the same recipe."""
    digest = hashlib.sha256(recipe.encode()).hexdigest()
    stamp = OUT / "stamps" / name
    if stamp.exists() and stamp.read_text() == digest:
        return
    start = time.monotonic()
    stamp.unlink(missing_ok=True)
    make()
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(digest)
    print(f"{name} took {time.monotonic() - start:.0f} s", file=sys.stderr)


def build(recipe: Recipe, version: str, apt: Apt) -> None:
    with tempfile.TemporaryDirectory(prefix="attune-deps-") as folder:
        source = pathlib.Path(folder) / "source"
        apt.unpack_source(recipe.source, version, source)
        run("bash", "-euo", "pipefail", "-c", CMAKE + recipe.script, cwd=source,
            env={"OUT": str(OUT), "JOBS": str(os.cpu_count()), "FLAGS": FLAGS})


def take_from_debian() -> None:
    """Archives as they are, by links, and copies of those that name streams."""
    for name in FROM_DEBIAN:
        link = OUT / "lib" / f"lib{name}.a"
        link.unlink(missing_ok=True)
        link.symlink_to(DEBIAN_LIBRARIES / link.name)
    for name in WITH_STREAMS:
        archive = OUT / "lib" / f"lib{name}.a"
        archive.unlink(missing_ok=True)  # it may be a link
        run("objcopy", "--redefine-sym", "stdin=attune_stdin", "--redefine-sym", "stderr=attune_stderr",
            DEBIAN_LIBRARIES / archive.name, archive)


def compile_names(source: pathlib.Path) -> None:
    """The names that no old C library has, as an archive, of which only what is missing is taken."""
    with tempfile.TemporaryDirectory() as folder:
        compiled = pathlib.Path(folder) / "names.o"
        run("clang-19", "-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-c", source, "-o", compiled)
        archive = OUT / "lib" / "libnames_of_glibc.a"
        archive.unlink(missing_ok=True)
        run("ar", "rcs", archive, compiled)


def make_sysroots() -> None:
    python = zig(OUT / "zig")
    for version, name in ((GLIBC, "sysroot"), (GLIBC_OF_RUNTIME, "sysroot_of_runtime")):
        shutil.rmtree(OUT / name, ignore_errors=True)
        make_sysroot(python, version, OUT / name)


def fetch_python() -> None:
    """The headers of a Python whose stable ABI modules may use, which this Debian's does not have."""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        package = Apt(OUT / "apt_later", PYTHON_FROM).download(PYTHON_PACKAGE)
        run("dpkg-deb", "--extract", package, work)
        shutil.rmtree(OUT / "python", ignore_errors=True)
        shutil.copytree(work / "usr" / "include", OUT / "python")
        version, = OUT.glob("python/python3.*")
        (OUT / "python" / "python").symlink_to(version.name)


def make_all() -> None:
    (OUT / "lib").mkdir(parents=True, exist_ok=True)
    (OUT / "stamps" / "complete").unlink(missing_ok=True)
    once("sysroots", ZIG + GLIBC + GLIBC_OF_RUNTIME + (HERE / "sysroot.py").read_text(), make_sysroots)
    names = HERE / "names_of_glibc.c"
    once("names", names.read_text(), lambda: compile_names(names))
    once("debian", repr((FROM_DEBIAN, WITH_STREAMS)) + run("dpkg-query", "--show", "libjpeg62-turbo-dev", "libpng-dev"), take_from_debian)
    once("python", PYTHON_FROM + PYTHON_PACKAGE, fetch_python)
    apt = Apt(OUT / "apt")
    for recipe in RECIPES:
        version = installed_version(recipe.package)
        once(recipe.source, CMAKE + FLAGS + repr(recipe) + version, lambda: build(recipe, version, apt))
    (OUT / "stamps" / "complete").touch()


if __name__ == "__main__":
    sys.exit(exit_status(make_all))
