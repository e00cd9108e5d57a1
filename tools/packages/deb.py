"""Makes the Debian package in build/dist/ from build/release: program, libraries, headers and what find_package() and
pkg-config read. The same commit gives the same bytes."""
import gzip
import pathlib
import shutil
import sys
import tempfile

from packages.man_page import man_page
from packages.release import BUILD, DIST, ROOT, Failed, commit, run, source_date, version

CONFIGURATION = ROOT / "cmake" / "deb"
LLVM_COPYRIGHT = pathlib.Path("/usr/share/doc/llvm-19-dev/copyright")


def copyright_file() -> str:
    """Who may do what with the package, the compiler that is linked into it included."""
    return ("Attune is under the Apache License, version 2.0. On Debian systems, its text is in\n"
            "/usr/share/common-licenses/Apache-2.0.\n\nCopyright: the authors of Attune\n\n"
            "The program, libattune.so and attune-worker contain LLVM, whose copyright file follows.\n\n"
            + LLVM_COPYRIGHT.read_text())


def changelog() -> str:
    """One entry: the commit that the package is of."""
    return (f"attune ({version()}) unstable; urgency=medium\n\n  * Commit {commit('%H')}.\n\n"
            f" -- {maintainer()}  {commit('%cD')}\n")


def maintainer() -> str:
    return commit("%an <%ae>")


def write_documents(share: pathlib.Path) -> None:
    """Writes what Debian wants of each package below /usr/share."""
    documents, manual, overrides = share / "doc" / "attune", share / "man" / "man1", share / "lintian" / "overrides"
    for folder in (documents, manual, overrides):
        folder.mkdir(parents=True)
    shutil.copyfile(CONFIGURATION / "lintian-overrides", overrides / "attune")
    (documents / "copyright").write_text(copyright_file())
    page = man_page(BUILD / "bin" / "attune", version(), commit("%cs"))
    for path, text in ((documents / "changelog.gz", changelog()), (manual / "attune.1.gz", page)):
        path.write_bytes(gzip.compress(text.encode(), mtime=0))


def make_deb() -> pathlib.Path:
    """Returns the package's path."""
    DIST.mkdir(parents=True, exist_ok=True)
    for old in DIST.glob("attune_*.deb"):
        old.unlink()
    with tempfile.TemporaryDirectory() as work:
        tree = pathlib.Path(work) / "tree"
        run("cmake", "--install", BUILD, "--prefix", tree / "usr", "--strip")
        write_documents(tree / "usr" / "share")
        run("cpack", "--config", CONFIGURATION / "cpack.cmake", "-D", f"CPACK_PACKAGE_VERSION={version()}",
            "-D", f"CPACK_DEBIAN_PACKAGE_MAINTAINER={maintainer()}", "-D", f"CPACK_INSTALLED_DIRECTORIES={tree};/",
            "-B", f"{work}/packed", env={"SOURCE_DATE_EPOCH": str(source_date())})
        made, = pathlib.Path(work, "packed").glob("*.deb")
        return pathlib.Path(shutil.move(made, DIST / made.name))


if __name__ == "__main__":
    try:
        print(make_deb())
    except Failed as error:
        sys.exit(str(error))
