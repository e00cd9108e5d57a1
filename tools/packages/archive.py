"""Makes in build/dist/ what is unpacked and runs: attune-VERSION-linux-x86_64.tar.gz of a portable build, and the runtime in two
files, attune-runtime-VERSION-source.tar.gz. The same commit gives the same bytes.

    BUILD=build/portable python -m packages.archive
"""
import pathlib
import sys
import tempfile

from packages.licences import whole_licences
from packages.release import BUILD, DIST, Failed, exit_status, is_portable, run, source_date, version
from packages.two_files import write_two_files


def pack(tree: pathlib.Path, archive: pathlib.Path) -> None:
    """Packs a folder under its own name."""
    DIST.mkdir(parents=True, exist_ok=True)
    archive.unlink(missing_ok=True)
    run("tar", "--create", "--gzip", "--file", archive, "--directory", tree.parent, "--sort=name", "--owner=0", "--group=0",
        "--numeric-owner", f"--mtime=@{source_date()}", tree.name)


def make_archives() -> None:
    if not is_portable():
        raise Failed(f"{BUILD} is no portable build; ./do portable makes one")
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder) / f"attune-{version()}-linux-x86_64"
        for component in ("command", "server", "runtime", "development"):
            run("cmake", "--install", BUILD, "--prefix", tree, "--component", component, "--strip")
        (tree / "LICENCES").write_text(whole_licences())
        pack(tree, DIST / f"{tree.name}.tar.gz")
        runtime = pathlib.Path(folder) / f"attune-runtime-{version()}-source"
        write_two_files(runtime, version())
        pack(runtime, DIST / f"{runtime.name}.tar.gz")


if __name__ == "__main__":
    sys.exit(exit_status(make_archives))
