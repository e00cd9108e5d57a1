"""A stand-in for the C library of old when a program is linked: its names and their versions, without its code.

An archive carries no versions of symbols; they bind when it is linked. So a program that is linked with the names of glibc
2.28 runs with each later glibc, whichever its parts were compiled on. Zig makes such libraries for any version.
"""
import os
import pathlib
import shutil
import sys
import tempfile

from packages.release import Failed, run

ZIG = "ziglang==0.17.1"
# Programs name these with -l, as in -lm.
LIBRARIES = ("libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libresolv.so.2", "libutil.so.1")


def zig(folder: pathlib.Path) -> pathlib.Path:
    """The Python of an environment that has Zig."""
    python = folder / "bin" / "python"
    stamp = folder / "installed.txt"
    if not stamp.exists() or stamp.read_text() != ZIG:
        run(sys.executable, "-m", "venv", "--clear", folder)
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ZIG)
        stamp.write_text(ZIG)
    return python


def make_sysroot(python: pathlib.Path, version: str, target: pathlib.Path) -> None:
    """Makes a folder that clang takes as --sysroot when it links. `version`: glibc's, such as 2.28."""
    library = target / "usr" / "lib"
    library.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "empty.c").write_text("int main(void) { return 0; }\n")
        run(python, "-m", "ziglang", "cc", "-target", f"x86_64-linux-gnu.{version}", "-fPIE", "-pie", "empty.c", "-o", "empty",
            env={"ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder, "HOME": os.environ.get("HOME", folder)},
            cwd=work)
        for name in (*LIBRARIES, "libc.so.6", "libld.so.2", "libc_nonshared.a", "Scrt1.o"):
            found = list(work.glob(f"o/*/{name}"))
            if not found:
                raise Failed(f"{ZIG} has made no {name} of glibc {version}")
            # The dynamic loader's soname is not that of its file here.
            shutil.copy(found[0], library / ("ld-linux-x86-64.so.2" if name == "libld.so.2" else name))
        for name in LIBRARIES:
            (library / name[:name.index(".so") + 3]).symlink_to(name)
        (library / "libc.so").write_text("INPUT(libc.so.6 libc_nonshared.a AS_NEEDED(ld-linux-x86-64.so.2))\n")
        # The functions that crti.o and crtn.o frame, `_init` and `_fini`, are empty everywhere by now.
        (work / "nothing.c").write_text("")
        for name in ("crti.o", "crtn.o"):
            run("clang-19", "-c", work / "nothing.c", "-o", library / name)
        shutil.copy(library / "Scrt1.o", library / "crt1.o")
    shutil.copy("/lib/x86_64-linux-gnu/libgcc_s.so.1", library)
