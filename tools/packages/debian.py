"""A Debian of its own in a folder, made of what this machine's package sources have."""
import pathlib
import re
import tempfile
from collections.abc import Sequence

from packages.apt import Apt, source_lines
from packages.deb import PACKAGES
from packages.release import Failed, run, source_date

# Documents that an image has no readers for; licenses stay.
LEFT_OUT = ("path-exclude=/usr/share/man/*", "path-exclude=/usr/share/locale/*", "path-exclude=/usr/share/doc/*",
            "path-include=/usr/share/doc/*/copyright")


def release() -> str:
    """The name of this machine's Debian."""
    found = re.search(r"^VERSION_CODENAME=(\w+)$", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)
    if found is None:
        raise Failed("/etc/os-release: names no release of Debian")
    return found[1]


def has_release(name: str) -> bool:
    """Whether this machine's package sources have this release of Debian, too."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            Apt(pathlib.Path(folder), name).update()
        except Failed:
            return False
    return True


def make_root(path: pathlib.Path, variant: str, packages: Sequence[str], dpkg_options: Sequence[str] = (),
              of_release: str = "") -> None:
    """Makes a root, as a folder or a tar archive, that has the packages of mmdebstrap's variant and these. `of_release`: of
    another Debian than this machine's."""
    options = [f"--variant={variant}", *[f"--dpkgopt={option}" for option in dpkg_options],
               *[f"--include={package}" for package in packages]]
    other = "" if of_release == release() else of_release
    if other:
        # A mirror may keep a release that has moved on, or ended, since.
        options.append("--aptopt=Acquire::Check-Valid-Until false")
    run("mmdebstrap", "--quiet", "--mode=root", *options, other or release(), path, *source_lines("deb", other),
        env={"SOURCE_DATE_EPOCH": str(source_date())})


def packages_in(folder: pathlib.Path) -> list[pathlib.Path]:
    """The package files of this project, in the order in which they can be installed."""
    found = [path for package in PACKAGES for path in folder.glob(f"{package.name}_*.deb")]
    if len(found) != len(PACKAGES):
        raise Failed(f"{folder}: does not have all {len(PACKAGES)} Debian packages; ./do deb makes them")
    return found


def dependencies(debs: Sequence[pathlib.Path]) -> list[str]:
    """The names of the packages that package files need, beside one another."""
    own = {run("dpkg-deb", "--field", deb, "Package").strip() for deb in debs}
    needed = {name.split()[0] for deb in debs for name in run("dpkg-deb", "--field", deb, "Depends").split(",")}
    return sorted(needed - own)
