"""Reads zip archives by the standard library's reader, which is held on a short lead."""

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import BinaryIO

from .entry import MOST_ENTRIES
from .member import Damaged, Member

MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
# The reader takes an archive's directory into memory whole: 100 bytes for each member is plenty.
MOST_AT_ONCE = 100 * MOST_ENTRIES
HEADER = 30  # bytes of a member's own header, without its name
ENCRYPTED, ON_UNIX = 0x1, 3
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What the reader raises where it meets what it doesn't expect.
UNEXPECTED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    UnicodeError,
    ValueError,
)


def is_zip(head: bytes) -> bool:
    """Return whether a file begins as one that this module reads."""
    return head.startswith(MAGIC)


def members(file: BinaryIO) -> Iterator[Member]:
    """Yield an archive's members; raises `Damaged`."""
    try:
        archive = zipfile.ZipFile(_Lead(file))
    except UNEXPECTED:
        raise Damaged("its directory is damaged") from None
    found = archive.infolist()
    if _overlap(found):
        raise Damaged("its members overlap")
    for info in found:
        # The reader's own word on this trips over a name that begins with a zero byte.
        is_folder = info.orig_filename.endswith("/")
        why = "" if is_folder else _objection(info)
        yield Member(info.orig_filename, is_folder, why, partial(_read, archive, info))


class _Lead:
    """A file of which nobody gets more than a little at once, whatever size a header claims."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        most = MOST_AT_ONCE + 1
        found = self._file.read(min(size, most) if size >= 0 else most)
        if len(found) == most:
            raise Damaged(f"its directory holds over {MOST_AT_ONCE} bytes")
        return found


def _overlap(found: list[zipfile.ZipInfo]) -> bool:
    """Return whether the bytes of one member are those of another too."""
    spans = sorted(
        (info.header_offset, info.header_offset + HEADER + info.compress_size) for info in found
    )
    return any(end > begin for (_, end), (begin, _) in pairwise(spans))


def _objection(info: zipfile.ZipInfo) -> str:
    mode = info.external_attr >> 16 if info.create_system == ON_UNIX else 0
    if stat.S_ISLNK(mode):
        return "it is a link"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "it is no regular file"
    if info.flag_bits & ENCRYPTED:
        return "it is encrypted"
    if info.compress_type not in METHODS:
        return "it is packed in an unusual way"
    return ""


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """Return a member's content as far as it is wanted; where that is all, its sum is compared."""
    try:
        with archive.open(info) as file:
            return file.read(most)
    except UNEXPECTED:
        raise Damaged("one of its members is damaged") from None
