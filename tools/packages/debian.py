"""A Debian of its own in a folder, made of what this machine's package sources have."""
import pathlib
import re
import tempfile
from collections.abc import Sequence

from packages.apt import Apt
from packages.release import Failed, run, source_date

# Documents that an image has no readers for; licenses stay.
LEFT_OUT = ("path-exclude=/usr/share/man/*", "path-exclude=/usr/share/locale/*", "path-exclude=/usr/share/doc/*",
            "path-include=/usr/share/doc/*/copyright")


def sources(of_release: str = "") -> list[str]:
    """The lines of sources.list for what Debian itself offers among this machine's sources; for another release of Debian,
    what the same sources have of that."""
    targets = run("apt-get", "indextargets", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)",
                  "Created-By: Packages", "Origin: Debian").splitlines()
    if not targets:
        raise Failed("apt knows no packages of Debian here; run apt-get update")
    if of_release in ("", release()):
        return sorted(set(targets))
    # Updates and security are elsewhere for releases that are not supported any more, or not yet.
    return sorted({f"deb {place} {of_release} {component}" for _, place, suite, component in map(str.split, targets)
                   if suite == release() and "security" not in place})


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
    if of_release not in ("", release()):
        # A mirror may keep a release that has moved on, or ended, since.
        options.append("--aptopt=Acquire::Check-Valid-Until false")
    run("mmdebstrap", "--quiet", "--mode=root", *options, of_release or release(), path, *sources(of_release),
        env={"SOURCE_DATE_EPOCH": str(source_date())})


def packages_in(folder: pathlib.Path) -> list[pathlib.Path]:
    """The package files of this project, in the order in which they can be installed."""
    found = [path for name in ("attune", "attune-server", "libattune-runtime-dev", "libattune-dev") for path in folder.glob(f"{name}_*.deb")]
    if len(found) != 4:
        raise Failed(f"{folder}: does not have all four Debian packages; ./do deb makes them")
    return found


def dependencies(debs: Sequence[pathlib.Path]) -> list[str]:
    """The names of the packages that package files need, beside one another."""
    own = {run("dpkg-deb", "--field", deb, "Package").strip() for deb in debs}
    needed = {name.split()[0] for deb in debs for name in run("dpkg-deb", "--field", deb, "Depends").split(",")}
    return sorted(needed - own)
