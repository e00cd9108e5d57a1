"""Buildah, with images and containers in a folder of ours. It needs no daemon."""
import pathlib
import shutil
import tempfile
from types import TracebackType

from packages.release import run


class Buildah:
    """Images and containers that last as long as this object, or as the folder that it is given."""

    def __init__(self, folder: pathlib.Path | None = None) -> None:
        self.folder = folder or pathlib.Path(tempfile.mkdtemp(prefix="attune-images-"))
        self.options = ["--root", f"{self.folder}/storage", "--runroot", f"{self.folder}/run",
                        "--storage-driver", "vfs"]

    def __enter__(self) -> "Buildah":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self("rm", "--all")
        shutil.rmtree(self.folder)

    def __call__(self, *arguments: object) -> str:
        """Runs one command of buildah and returns what it prints."""
        return run(*self.command(*arguments)).strip()

    def command(self, *arguments: object) -> list[str]:
        return ["buildah", *self.options, *map(str, arguments)]
