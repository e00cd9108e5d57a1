"""Installs wheel and Debian package from build/dist/ into bare Debians, and has each run a network there.

    sudo python3 -m packages.chroots [wheel|deb ...]

Both have apt and nothing else that Debian can do without; the wheel's has python3-venv too, and NumPy is what pip finds
by its name. In the package's, no file is left in the end. Prints what each takes.
"""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile

from packages import debian
from packages.release import DIST, ROOT, exit_status, run

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


def inside(root: pathlib.Path, *command: object) -> str:
    """Returns the output of a command that runs in the root, with processes and mounts that end with it."""
    return run("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", ENTER, root, *ENVIRONMENT, *command)


def megabytes(*paths: pathlib.Path) -> float:
    return sum(float(line.split()[0]) for line in run("du", "-sxk", *paths).splitlines()) / 1e3


def bare_debian(folder: pathlib.Path, *packages: str) -> pathlib.Path:
    root = folder / "root"
    debian.make_root(root, "apt", packages)
    print(f"Debian with {' and '.join(['apt', *packages])}: {megabytes(root):.0f} MB")
    return root


def try_wheel(folder: pathlib.Path) -> None:
    wheel, = DIST.glob("attune_compiler-*.whl")
    root = bare_debian(folder, "python3-venv")
    packages = root / "root" / "packages"
    packages.mkdir()
    shutil.copy(wheel, packages)
    # Outside, since nothing in there speaks TLS as this machine does.
    run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
        "--python-version=3.11", "--platform=manylinux_2_28_x86_64", "--platform=manylinux2014_x86_64",
        "--dest", packages, "numpy")
    inside(root, "python3", "-m", "venv", "/root/environment")
    inside(root, "/root/environment/bin/pip", "install", "--quiet", "--no-index", "--find-links=/root/packages",
           "attune-compiler")
    (root / "root" / "quick_start.py").write_text(QUICK_START)
    print(inside(root, "sh", "-c", "cd /root && environment/bin/python quick_start.py").strip())
    site = root / "root/environment/lib/python3.11/site-packages"
    print(f"wheel: {wheel.stat().st_size / 1e6:.1f} MB, installed {megabytes(*site.glob('attune*')):.0f} MB")


def try_deb(folder: pathlib.Path) -> None:
    packages = debian.packages_in(DIST)
    root = bare_debian(folder)
    for path in (*packages, ROOT / "tools" / "packages" / "try_deb.sh"):
        shutil.copy(path, root / "root")
    shutil.copy("/etc/resolv.conf", root / "etc")
    inside(root, "apt-get", "-q", "update")
    print(inside(root, "/root/try_deb.sh", *[f"/root/{package.name}" for package in packages]).strip())
    for package in packages:
        print(f"{package.name}: {package.stat().st_size / 1e6:.1f} MB")


CHECKS = {"wheel": try_wheel, "deb": try_deb}


def check_all(names: list[str]) -> None:
    for name in names:
        with tempfile.TemporaryDirectory(prefix="attune-chroot-") as folder:
            CHECKS[name](pathlib.Path(folder))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="CHECK", help="wheel or deb (default: both)")
    arguments = parser.parse_args()
    if unknown := set(arguments.checks) - set(CHECKS):
        parser.error(f"there is no check {', '.join(sorted(unknown))}")
    return exit_status(lambda: check_all(arguments.checks or list(CHECKS)))


if __name__ == "__main__":
    sys.exit(main())
