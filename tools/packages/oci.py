"""Archives of images in the layout of the Open Container Initiative, the same bytes for the same image."""
import io
import json
import pathlib
import tarfile
from typing import IO, Any


def blob(layout: pathlib.Path, digest: str) -> pathlib.Path:
    return layout / "blobs" / digest.replace(":", "/")


def entry(layout: pathlib.Path, name: str) -> dict[str, Any]:
    """Returns the entry of a layout's index for the image with this name."""
    index = json.loads((layout / "index.json").read_text())
    found: dict[str, Any]
    found, = [image for image in index["manifests"]
              if image["annotations"]["org.opencontainers.image.ref.name"] == name]
    return found


def manifest(layout: pathlib.Path, name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(blob(layout, entry(layout, name)["digest"]).read_text())
    return read


def write_archive(layout: pathlib.Path, name: str, archive: pathlib.Path) -> None:
    """Writes an archive that has one image of a layout alone."""
    image, parts = entry(layout, name), manifest(layout, name)
    digests = [image["digest"], parts["config"]["digest"], *[layer["digest"] for layer in parts["layers"]]]
    index = {"schemaVersion": 2, "manifests": [image]}
    with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as out:
        for file, data in [("index.json", json.dumps(index).encode()),
                           ("oci-layout", (layout / "oci-layout").read_bytes())]:
            add(out, file, len(data), io.BytesIO(data))
        for digest in sorted(set(digests)):
            path = blob(layout, digest)
            with path.open("rb") as part:
                add(out, str(path.relative_to(layout)), path.stat().st_size, part)


def add(out: tarfile.TarFile, path: str, size: int, data: IO[bytes]) -> None:
    member = tarfile.TarInfo(path)
    member.size, member.mode = size, 0o644
    out.addfile(member, data)
