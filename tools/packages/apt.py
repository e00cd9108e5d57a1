"""Packages of Debian, fetched by apt without a change to this machine's configuration."""
import pathlib

from packages.release import Failed, run


def source_lines(kind: str, release: str = "") -> list[str]:
    """The lines of sources.list, of this kind (deb, deb-src), for what Debian itself offers among this machine's sources.
    `release`: what the same sources have of another Debian, such as trixie; empty: this machine's."""
    targets = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages",
                  "Origin: Debian").splitlines()
    if not targets:
        raise Failed("apt knows no packages of Debian here; run apt-get update")
    lines = set()
    for place, suite, component in map(str.split, targets):
        # Updates and security are elsewhere for releases that are not supported any more, or not yet.
        if not release or "-" not in suite:
            lines.add(f"{kind} {place} {release or suite} {component}")
    return sorted(lines)


class Apt:
    """This machine's package sources, with apt's lists and fetched files in a folder of their own.

    `release`: that of another Debian, such as trixie, from the same sources; empty: this machine's.
    """

    def __init__(self, folder: pathlib.Path, release: str = ""):
        self._folder = folder
        (folder / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        lines = source_lines("deb" if release else "deb-src", release)
        (folder / "sources.list").write_text("\n".join(lines) + "\n")
        self._is_updated = False

    def _run(self, *arguments: object) -> str:
        options = {"Dir::Etc::SourceList": self._folder / "sources.list", "Dir::Etc::SourceParts": "/dev/null",
                   "Dir::State::Lists": self._folder / "lists", "Dir::Cache": self._folder / "cache", "APT::Sandbox::User": "root",
                   "Acquire::Check-Valid-Until": "false", "APT::Update::Error-Mode": "any"}
        flags = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        return run("apt-get", "-q", *flags, *arguments, cwd=self._folder)

    def update(self) -> None:
        """Fetches the lists, once. Raises Failed where the sources do not have that release."""
        if not self._is_updated:
            self._run("update")
            self._is_updated = True

    def unpack_source(self, name: str, version: str, target: pathlib.Path) -> None:
        """Fetches a source package, and unpacks it with Debian's patches."""
        self.update()
        self._run("source", "--download-only", f"{name}={version}")
        # The file's name is without the version's epoch.
        description = self._folder / f"{name}_{version.split(':')[-1]}.dsc"
        run("dpkg-source", "--no-check", "--extract", description, target)

    def download(self, package: str) -> pathlib.Path:
        """Fetches a package, and returns its file."""
        self.update()
        for old in self._folder.glob(f"{package}_*.deb"):
            old.unlink()
        self._run("download", package)
        fetched, = self._folder.glob(f"{package}_*.deb")
        return fetched


def installed_version(package: str) -> str:
    """The version of the source package that an installed package was built from."""
    return run("dpkg-query", "--show", "--showformat", "${source:Version}", package)
