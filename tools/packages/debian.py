"""A Debian of its own in a folder, made of what this machine's package sources have."""
import pathlib
import re
from collections.abc import Sequence

from packages.release import Failed, run, source_date

# Documents that an image has no readers for; licenses stay.
LEFT_OUT = ("path-exclude=/usr/share/man/*", "path-exclude=/usr/share/locale/*", "path-exclude=/usr/share/doc/*",
            "path-include=/usr/share/doc/*/copyright")


def sources() -> list[str]:
    """The lines of sources.list for what Debian itself offers among this machine's sources."""
    targets = run("apt-get", "indextargets", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)",
                  "Created-By: Packages", "Origin: Debian").splitlines()
    if not targets:
        raise Failed("apt knows no packages of Debian here; run apt-get update")
    return sorted(set(targets))


def release() -> str:
    """The name of this machine's Debian."""
    found = re.search(r"^VERSION_CODENAME=(\w+)$", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)
    if found is None:
        raise Failed("/etc/os-release: names no release of Debian")
    return found[1]


def make_root(path: pathlib.Path, variant: str, packages: Sequence[str], dpkg_options: Sequence[str] = ()) -> None:
    """Makes a root, as a folder or a tar archive, that has the packages of mmdebstrap's variant and these."""
    options = [f"--variant={variant}", *[f"--dpkgopt={option}" for option in dpkg_options],
               *[f"--include={package}" for package in packages]]
    run("mmdebstrap", "--quiet", "--mode=root", *options, release(), path, *sources(),
        env={"SOURCE_DATE_EPOCH": str(source_date())})


def packages_in(folder: pathlib.Path) -> list[pathlib.Path]:
    """The package files of this project, in the order in which they can be installed."""
    compiler, = folder.glob("attune_*.deb")
    server, = folder.glob("attune-server_*.deb")
    return [compiler, server]


def dependencies(debs: Sequence[pathlib.Path]) -> list[str]:
    """The names of the packages that package files need, beside one another."""
    own = {run("dpkg-deb", "--field", deb, "Package").strip() for deb in debs}
    needed = {name.split()[0] for deb in debs for name in run("dpkg-deb", "--field", deb, "Depends").split(",")}
    return sorted(needed - own)
