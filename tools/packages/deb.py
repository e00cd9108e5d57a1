"""Makes the Debian packages in build/dist/ from build/release: attune has the program, libraries, headers and what
find_package() and pkg-config read, attune-server the server's program. The same commit gives the same bytes."""
import gzip
import pathlib
import shutil
import sys
import tempfile

from packages.man_page import man_page
from packages.release import BUILD, DIST, ROOT, Failed, commit, run, source_date, version

CONFIGURATION = ROOT / "cmake" / "deb"
# The purpose of each package's program, for its manual page.
PACKAGES = {"attune": "compiles trained neural networks into fast programs, and tunes them",
            "attune-server": "serves a fleet of devices, and the jobs of many"}
LLVM_COPYRIGHT = pathlib.Path("/usr/share/doc/llvm-19-dev/copyright")


def copyright_file() -> str:
    """Who may do what with the package, the compiler that is linked into it included."""
    return ("Attune is under the Apache License, version 2.0. On Debian systems, its text is in\n"
            "/usr/share/common-licenses/Apache-2.0.\n\nCopyright: the authors of Attune\n\n"
            "The programs, libattune.so and attune-worker contain LLVM, whose copyright file follows.\n\n"
            + LLVM_COPYRIGHT.read_text())


def changelog(package: str) -> str:
    """One entry: the commit that the package is of."""
    return (f"{package} ({version()}) unstable; urgency=medium\n\n  * Commit {commit('%H')}.\n\n"
            f" -- {maintainer()}  {commit('%cD')}\n")


def maintainer() -> str:
    return commit("%an <%ae>")


def write_documents(package: str, share: pathlib.Path) -> None:
    """Writes what Debian wants of each package below /usr/share."""
    documents, manual, overrides = share / "doc" / package, share / "man" / "man1", share / "lintian" / "overrides"
    for folder in (documents, manual):
        folder.mkdir(parents=True)
    if (known := CONFIGURATION / f"{package}.lintian-overrides").exists():
        overrides.mkdir(parents=True)
        shutil.copyfile(known, overrides / package)
    (documents / "copyright").write_text(copyright_file())
    page = man_page(BUILD / "bin" / package, PACKAGES[package], version(), commit("%cs"))
    for path, text in ((documents / "changelog.gz", changelog(package)), (manual / f"{package}.1.gz", page)):
        path.write_bytes(gzip.compress(text.encode(), mtime=0))


def pack(package: str, tree: pathlib.Path, work: pathlib.Path) -> pathlib.Path:
    """Makes one package of a tree, and returns its path."""
    write_documents(package, tree / "usr" / "share")
    run("cpack", "--config", CONFIGURATION / f"{package}.cmake", "-D", f"CPACK_PACKAGE_VERSION={version()}",
        "-D", f"CPACK_DEBIAN_PACKAGE_MAINTAINER={maintainer()}", "-D", f"CPACK_INSTALLED_DIRECTORIES={tree};/",
        "-B", work / package, env={"SOURCE_DATE_EPOCH": str(source_date())})
    made, = (work / package).glob("*.deb")
    return pathlib.Path(shutil.move(made, DIST / made.name))


def make_debs() -> list[pathlib.Path]:
    """Returns the packages' paths."""
    DIST.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        for old in DIST.glob(f"{package}_*.deb"):
            old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        tree, server = work / "tree", work / "server"
        run("cmake", "--install", BUILD, "--prefix", tree / "usr", "--strip")
        (server / "usr" / "bin").mkdir(parents=True)
        shutil.move(tree / "usr" / "bin" / "attune-server", server / "usr" / "bin")
        return [pack("attune", tree, work), pack("attune-server", server, work)]


if __name__ == "__main__":
    try:
        print(*make_debs(), sep="\n")
    except Failed as error:
        sys.exit(str(error))
