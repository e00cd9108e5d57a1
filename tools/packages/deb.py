"""Makes the Debian packages in build/dist/ from build/release, or from the portable build of $BUILD: attune has the program,
attune-server the server's, libattune-dev and libattune-runtime-dev what others' programs are built with. The same commit gives
the same bytes."""
import dataclasses
import gzip
import pathlib
import shutil
import sys
import tempfile

from packages.licences import licences
from packages.man_page import man_page
from packages.release import BUILD, DIST, ROOT, Failed, commit, is_portable, run, source_date, version

CONFIGURATION = ROOT / "cmake" / "deb"


@dataclasses.dataclass(frozen=True)
class Package:
    name: str
    component: str            # of `cmake --install`
    depends: tuple[str, ...]  # packages of ours, of the same version
    purpose: str = ""         # of the program with the package's name, for its manual page; empty: it has none


PACKAGES = [
    Package("attune", "command", (), "compiles trained neural networks into fast programs, and tunes them"),
    Package("attune-server", "server", ("attune",), "serves a fleet of devices, and the jobs of many"),
    Package("libattune-runtime-dev", "runtime", ()),
    Package("libattune-dev", "development", ("attune", "libattune-runtime-dev")),
]
# A portable build needs these, whatever Debian's packages of today offer.
NEEDED_BY_PORTABLE = ["libc6 (>= 2.28)", "libgcc-s1 (>= 3.3)"]


def copyright_file() -> str:
    """Who may do what with the package, the compiler that is linked into it included."""
    return ("Attune is under the Apache License, version 2.0. On Debian systems, its text is in\n"
            "/usr/share/common-licenses/Apache-2.0.\n\nCopyright: the authors of Attune\n\n"
            "It contains the libraries whose copyright files follow.\n\n" + licences())


def changelog(package: str) -> str:
    """One entry: the commit that the package is of."""
    return (f"{package} ({version()}) unstable; urgency=medium\n\n  * Commit {commit('%H')}.\n\n"
            f" -- {maintainer()}  {commit('%cD')}\n")


def maintainer() -> str:
    return commit("%an <%ae>")


def write_documents(package: Package, share: pathlib.Path) -> None:
    """Writes what Debian wants of each package below /usr/share."""
    documents, manual, overrides = share / "doc" / package.name, share / "man" / "man1", share / "lintian" / "overrides"
    documents.mkdir(parents=True)
    if (known := CONFIGURATION / f"{package.name}.lintian-overrides").exists():
        overrides.mkdir(parents=True)
        shutil.copyfile(known, overrides / package.name)
    (documents / "copyright").write_text(copyright_file())
    texts = {documents / "changelog.gz": changelog(package.name)}
    if package.purpose:
        manual.mkdir(parents=True)
        texts[manual / f"{package.name}.1.gz"] = man_page(BUILD / "bin" / package.name, package.purpose, version(), commit("%cs"))
    for path, text in texts.items():
        path.write_bytes(gzip.compress(text.encode(), mtime=0))


def pack(package: Package, work: pathlib.Path) -> pathlib.Path:
    """Makes one package, and returns its path."""
    tree = work / package.name / "tree"
    run("cmake", "--install", BUILD, "--prefix", tree / "usr", "--component", package.component, "--strip")
    write_documents(package, tree / "usr" / "share")
    depends = [f"{name} (= {version()})" for name in package.depends]
    has_code = package.component != "development"
    if is_portable() and has_code:
        depends += NEEDED_BY_PORTABLE
    run("cpack", "--config", CONFIGURATION / f"{package.name}.cmake", "-D", f"CPACK_PACKAGE_VERSION={version()}",
        "-D", f"CPACK_DEBIAN_PACKAGE_MAINTAINER={maintainer()}", "-D", f"CPACK_DEBIAN_PACKAGE_DEPENDS={', '.join(depends)}",
        "-D", f"CPACK_DEBIAN_PACKAGE_SHLIBDEPS={'OFF' if is_portable() or not has_code else 'ON'}",
        "-D", f"CPACK_INSTALLED_DIRECTORIES={tree};/",
        "-B", work / package.name, env={"SOURCE_DATE_EPOCH": str(source_date())})
    made, = (work / package.name).glob("*.deb")
    return pathlib.Path(shutil.move(made, DIST / made.name))


def make_debs() -> list[pathlib.Path]:
    """Returns the packages' paths."""
    DIST.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        for old in DIST.glob(f"{package.name}_*.deb"):
            old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        return [pack(package, pathlib.Path(folder)) for package in PACKAGES]


if __name__ == "__main__":
    try:
        print(*make_debs(), sep="\n")
    except Failed as error:
        sys.exit(str(error))
