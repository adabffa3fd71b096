"""Archives as any tool makes them."""

import io
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path


def pack(path: Path, files: Mapping[str, bytes], top: str = "") -> Path:
    """Write an archive of the kind that ``path`` names."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in files.items():
                packed.writestr(top + name, content)
        return path
    with tarfile.open(path, "w:" if path.suffix == ".tar" else "w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(top + name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def zipped(path: Path, members: Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    """Write a zip archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for info, content in members:
            packed.writestr(info, content)
    return path


def tarred(path: Path, members: Iterable[tuple[tarfile.TarInfo, bytes]]) -> Path:
    """Write a gzipped tar archive."""
    with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT) as packed:
        for info, content in members:
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    """Return a member of a tar archive that is no regular file."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def infos(members: Iterable[tuple[str, bytes]]) -> list[tuple[tarfile.TarInfo, bytes]]:
    """Return regular files as members of a tar archive."""
    return [(tarfile.TarInfo(name), content) for name, content in members]
