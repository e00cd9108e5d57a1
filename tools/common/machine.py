"""The processor and the versions of the software: results depend on these apart from the networks."""
import importlib.metadata
import os
import pathlib
import platform
import subprocess

from common.engines import PEERS
from common.program import ROOT, attune

CACHES = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")
BUILT_FROM = ("CMakeLists.txt", "CMakePresets.json", "cmake", "include", "src")
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def processors():
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


def cpu_info():
    """The entries for the first processor in /proc/cpuinfo."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    return {key.strip(): value.strip() for key, value in (line.split(":", 1) for line in lines)}


def caches():
    """The caches of the first processor: level, type, size in bytes, and how many processors share each."""
    found = []
    for folder in sorted(CACHES.glob("index*")):
        level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        shared = bin(int((folder / "shared_cpu_map").read_text().replace(",", ""), 16)).count("1")
        found.append({"level": int(level), "type": kind.lower(), "bytes": int(size[:-1]) * UNITS[size[-1]],
                      "processors": shared})
    return found


def describe():
    """Describes the machine, without anything that identifies it."""
    info = cpu_info()
    return {
        "cpu": info["model name"],
        "cpu_family": int(info["cpu family"]),
        "cpu_model": int(info["model"]),
        "instructions": [flag for flag in ("avx2", "fma", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile")
                         if flag in info["flags"].split()],
        "processors": processors(),
        "caches": caches(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.freedesktop_os_release()["PRETTY_NAME"],
    }


def versions():
    """The versions of the peers that are installed."""
    found = {}
    for peer in PEERS.values():
        try:
            found[peer.name] = importlib.metadata.version(peer.package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def git(*arguments):
    """Runs git and returns its output. Raises CalledProcessError, with git's message in stderr."""
    command = ["git", "-C", ROOT, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def program():
    """Attune's version and the commit it was built from; `modified`: its sources have uncommitted changes."""
    try:
        commit, modified = git("rev-parse", "HEAD"), bool(git("status", "--porcelain", "--", *BUILT_FROM))
    except (OSError, subprocess.CalledProcessError):  # the sources came without their history
        commit, modified = None, False
    return {"version": attune("--version").split()[-1], "commit": commit, "modified": modified}
