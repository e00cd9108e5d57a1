"""Installs what is in build/dist/ into bare Debians, this machine's and others, and has each run a network there.

    sudo -E build/python/bin/python -m packages.chroots [wheel|deb|archive|source ...] [--release trixie ...] [--photo MODEL PICTURE LABELS tf]

wheel     pip installs it, beside Python and NumPy alone; then README's command for photos, if --photo names files for it
deb       apt installs the packages, and no file is left once they are removed
archive   is unpacked and run, and a program in C is built with its runtime
source    the runtime's two files are compiled there with a program in C, which runs an artifact

Packages of a portable build (./do portable) are tried in all releases that this machine's package sources have, those of
another in this machine's alone. Prints what each takes.
"""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time

from packages import debian
from packages.release import BUILD, DIST, ROOT, Failed, exit_status, is_portable, run

# From the oldest; mirrors drop the oldest one day.
RELEASES = ["bullseye", "bookworm", "trixie", "forky"]
# Its Python or its compiler for C++ is too old, or its packages have other names.
NOT_IN = {"wheel": ["bullseye"], "deb": ["bullseye", "forky"], "source": ["bullseye"]}
ENVIRONMENT = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8",
               *[f"{name}={value}" for name, value in os.environ.items() if name.lower().endswith("_proxy")]]
ENTER = """
mount -t proc proc "$0/proc"
for folder in dev sys; do mount --rbind "/$folder" "$0/$folder"; done
exec chroot "$0" "$@"
"""
QUICK_START = """
import numpy, attune
network = attune.zoo("squeezenet1_1").tune(trials=8, threads=1).compile()
network.save("net.atn")
outputs = network.run({name: network.random_input(name) for name in network.inputs})
network.verify()
print({name: value.shape for name, value in outputs.items()}, f"{numpy.median(network.bench(0.1)):.2f} ms")
"""
# In a folder with the program's name in $ATTUNE.
SESSION = """
export ATTUNE_RECORDS=none
$ATTUNE zoo squeezenet1_1 -o net.onnx
$ATTUNE compile net.onnx -o net.atn
$ATTUNE run net.atn --input random:1
$ATTUNE verify net.onnx
$ATTUNE tune net.onnx --trials 8 --records records.db
$ATTUNE bench net.atn --seconds 0.1
"""


def inside(root: pathlib.Path, *command: object) -> str:
    """Returns the output of a command that runs in the root, with processes and mounts that end with it."""
    return run("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", ENTER, root, *ENVIRONMENT, *command)


def megabytes(*paths: pathlib.Path) -> float:
    return sum(float(line.split()[0]) for line in run("du", "-sxk", *paths).splitlines()) / 1e3


def bare_debian(folder: pathlib.Path, release: str, *packages: str) -> pathlib.Path:
    root = folder / "root"
    debian.make_root(root, "apt", packages, of_release=release)
    print(f"{release} with {' and '.join(['apt', *packages])}: {megabytes(root):.0f} MB")
    return root


def one_file(pattern: str) -> pathlib.Path:
    found = list(DIST.glob(pattern))
    if len(found) != 1:
        raise Failed(f"{DIST}: has {len(found)} files {pattern}, not one; ./do portable makes them")
    return found[0]


def try_wheel(root: pathlib.Path, photo: list[str]) -> None:
    version = inside(root, "python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    packages = root / "root" / "packages"
    packages.mkdir()
    for wheel in DIST.glob("attune_*.whl"):
        shutil.copy(wheel, packages)
    # Outside, since nothing in there speaks TLS as this machine does.
    run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
        f"--python-version={version}", "--platform=manylinux_2_28_x86_64", "--platform=manylinux2014_x86_64",
        "--dest", packages, "numpy")
    start = time.monotonic()
    inside(root, "python3", "-m", "venv", "/root/environment")
    inside(root, "/root/environment/bin/pip", "install", "--quiet", "--no-index", "--find-links=/root/packages",
           "attune-compiler")
    if photo:
        *files, preprocess = photo
        model, picture, labels = [pathlib.Path("/root", pathlib.Path(shutil.copy(path, root / "root")).name) for path in files]
        said = inside(root, "/root/environment/bin/attune", "run", model, "--input", picture, "--labels", labels, "--top", "1",
                      "--preprocess", preprocess)
        print(said.strip())
        print(f"installed, and the photo known, after {time.monotonic() - start:.0f} s")
    (root / "root" / "quick_start.py").write_text(QUICK_START)
    print(inside(root, "sh", "-c", "cd /root && environment/bin/python quick_start.py").strip())
    inside(root, "/root/environment/bin/python", "-m", "attune", "--version")
    site, = (root / "root/environment/lib").glob("python3.*/site-packages")
    print(f"wheel, with Python {version}: installed {megabytes(*site.glob('attune*')):.0f} MB")


def try_deb(root: pathlib.Path, _: list[str]) -> None:
    packages = debian.packages_in(DIST)
    for path in (*packages, ROOT / "tools" / "packages" / "try_deb.sh"):
        shutil.copy(path, root / "root")
    shutil.copy("/etc/resolv.conf", root / "etc")
    inside(root, "apt-get", "-q", "update")
    print(inside(root, "/root/try_deb.sh", *[f"/root/{package.name}" for package in packages]).strip())
    for package in packages:
        print(f"{package.name}: {package.stat().st_size / 1e6:.1f} MB")


def try_archive(root: pathlib.Path, _: list[str]) -> None:
    archive = one_file("attune-*-linux-x86_64.tar.gz")
    run("tar", "--extract", "--file", archive, "--directory", root / "root")
    print(inside(root, "sh", "-euc", f"cd /root; ATTUNE=/root/{archive.name.removesuffix('.tar.gz')}/bin/attune; {SESSION}").strip())
    shutil.copy(ROOT / "docs" / "examples" / "run_model.c", root / "root")
    print(inside(root, "sh", "-euc", f"""
cd /root
folder=/root/{archive.name.removesuffix('.tar.gz')}
cc -O2 -I $folder/include run_model.c -L $folder/lib -lattune_runtime -Wl,-rpath,$folder/lib -o run_model
./run_model net.atn 2""").strip())
    print(f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB")


def try_source(root: pathlib.Path, _: list[str]) -> None:
    archive = one_file("attune-runtime-*-source.tar.gz")
    run("tar", "--extract", "--strip-components=1", "--file", archive, "--directory", root / "root")
    (root / "root" / "attune").mkdir()
    shutil.move(root / "root" / "attune.h", root / "root" / "attune")
    shutil.copy(ROOT / "docs" / "examples" / "run_model.c", root / "root")
    with tempfile.TemporaryDirectory() as folder:
        model, artifact = pathlib.Path(folder) / "net.onnx", pathlib.Path(folder) / "net.atn"
        run(BUILD / "bin" / "attune", "zoo", "squeezenet1_1", "-o", model)
        run(BUILD / "bin" / "attune", "compile", model, "-o", artifact, env={"ATTUNE_RECORDS": "none"})
        shutil.copy(artifact, root / "root")
    print(inside(root, "sh", "-euc", """
cd /root
c++ -std=c++20 -O2 -Iattune -I. -pthread -c attune_runtime.cc
cc -O2 -I. -c run_model.c
c++ run_model.o attune_runtime.o -pthread -ldl -o run_model
./run_model net.atn 2""").strip())


CHECKS = {"wheel": try_wheel, "deb": try_deb, "archive": try_archive, "source": try_source}
PACKAGES = {"wheel": ["python3-venv"], "archive": ["gcc", "libc6-dev"], "source": ["g++"]}


def check_all(checks: list[str], releases: list[str], photo: list[str]) -> None:
    for check in checks:
        for release in releases:
            if release in NOT_IN.get(check, []):
                continue
            if not debian.has_release(release):
                print(f"-- {check} in {release}: this machine's package sources do not have that")
                continue
            print(f"-- {check} in {release}", flush=True)
            with tempfile.TemporaryDirectory(prefix="attune-chroot-") as folder:
                CHECKS[check](bare_debian(pathlib.Path(folder), release, *PACKAGES.get(check, [])), photo)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help="wheel, deb, archive or source (default: all that is made)")
    parser.add_argument("--release", action="append", metavar="NAME", help="try this release of Debian; may be given again")
    parser.add_argument("--photo", nargs=4, metavar=("MODEL", "PICTURE", "LABELS", "PREPROCESS"), default=[],
                        help="files for README's command, and the pixels that the model was trained with")
    arguments = parser.parse_args()
    if unknown := set(arguments.checks) - set(CHECKS):
        parser.error(f"there is no check {', '.join(sorted(unknown))}")
    checks = arguments.checks or (list(CHECKS) if is_portable() else ["wheel", "deb"])
    releases = arguments.release or (RELEASES if is_portable() else [debian.release()])
    return exit_status(lambda: check_all(checks, releases, arguments.photo))


if __name__ == "__main__":
    sys.exit(main())
