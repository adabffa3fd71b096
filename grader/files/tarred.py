"""Reads tar archives, plain or gzipped, front to back and in constant memory.

Of the standard library it takes the reading of a single header. Extension headers, which may hold
anything at any length, are read here: of all that they can say, a member's name and size.
"""

import io
import stat
import tarfile
import zlib
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from .member import Damaged, Member

BLOCK, CHUNK = tarfile.BLOCKSIZE, 64 << 10
MOST_UNPACKED, FREELY_UNPACKED, MOST_RATIO = 256 << 20, 16 << 20, 100
MOST_HEADERS, MOST_EXTENSION, MOST_EXTENSIONS = 30_000, 64 << 10, 4 << 20
ENDS_TOO_SOON = "it ends too soon"
LONG_NAME, LONG_LINK = tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK
OF_NEXT, OF_ALL = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE), tarfile.XGLTYPE
EXTENSIONS = (LONG_NAME, LONG_LINK, *OF_NEXT, OF_ALL)
MAGIC_OF_GZIP, MAGIC_OF_TAR, PLACE_OF_MAGIC = b"\x1f\x8b", b"ustar", 257


def is_tar(head: bytes) -> bool:
    """Return whether a file begins as one that this module reads."""
    return head.startswith(MAGIC_OF_GZIP) or head[PLACE_OF_MAGIC:].startswith(MAGIC_OF_TAR)


def members(file: BinaryIO) -> Iterator[Member]:
    """Yield an archive's members; raises `Damaged`."""
    packed = file.read(len(MAGIC_OF_GZIP)) == MAGIC_OF_GZIP
    file.seek(0)
    stream = _Stream(_unpacked(file) if packed else _pieces(file))
    said: dict[str, str] = {}
    for _ in range(MOST_HEADERS):
        header = stream.take(BLOCK)
        if not any(header):
            stream.drain()
            return
        info = _info(header)
        if info.type in EXTENSIONS:
            said |= _extension(info, stream)
        else:
            yield from _member(header, info, said, stream)
            said = {}
    raise Damaged("it holds too many headers")


class _Stream:
    """Gives out bytes as they come, from first to last."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._chunk = chunks, io.BytesIO()
        self.place = self.extensions = 0

    def take(self, size: int) -> bytes:
        """Return the next ``size`` bytes; raises `Damaged` where there are fewer."""
        parts, missing = [], size
        while missing:
            part = self._chunk.read(missing)
            if not part:
                self._chunk = io.BytesIO(self._next())
            parts.append(part)
            missing -= len(part)
        self.place += size
        return b"".join(parts)

    def skip_to(self, place: int) -> None:
        """Leave out what lies before ``place``."""
        while self.place < place:
            self.take(min(place - self.place, CHUNK))

    def drain(self) -> None:
        """Read to the end, so that a sum over the whole is compared."""
        for _ in self._chunks:
            pass

    def _next(self) -> bytes:
        chunk = next(self._chunks, None)
        if chunk is None:
            raise Damaged(ENDS_TOO_SOON)
        return chunk


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file's content as it is."""
    come = 0
    while piece := file.read(CHUNK):
        come += len(piece)
        if come > MOST_UNPACKED:
            raise Damaged(f"it holds over {MOST_UNPACKED} bytes")
        yield piece


def _unpacked(file: BinaryIO) -> Iterator[bytes]:
    """Yield the unpacked content of a gzip file, of which the first part counts."""
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    read = come = 0
    while not unpacker.eof:
        packed = unpacker.unconsumed_tail
        if not packed:
            packed = file.read(CHUNK)
            read += len(packed)
        try:
            piece = unpacker.decompress(packed, CHUNK)
        except zlib.error:
            raise Damaged("its gzip data are damaged") from None
        if not packed and not piece:
            raise Damaged(ENDS_TOO_SOON)
        come += len(piece)
        if come > MOST_UNPACKED or come > max(FREELY_UNPACKED, MOST_RATIO * read):
            raise Damaged(f"it unpacks to over {min(come, MOST_UNPACKED)} bytes")
        if piece:
            yield piece


def _info(header: bytes) -> tarfile.TarInfo:
    try:
        info = tarfile.TarInfo.frombuf(header, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        raise Damaged("one of its headers is damaged") from None
    if info.size < 0:
        raise Damaged("one of its members has a size below zero")
    return info


def _extension(info: tarfile.TarInfo, stream: _Stream) -> dict[str, str]:
    """Return what an extension header says of the next member."""
    stream.extensions += info.size
    if info.size > MOST_EXTENSION or stream.extensions > MOST_EXTENSIONS:
        raise Damaged("its headers are too large")
    content = stream.take(info.size)
    stream.skip_to(_padded(stream.place))
    if info.type == LONG_NAME:
        return {"path": _text(content.partition(b"\0")[0])}
    return _records(content) if info.type in OF_NEXT else {}


def _records(content: bytes) -> dict[str, str]:
    """Return the records of a PAX header: a length, a space, ``key=value``, the end of a line."""
    found: dict[str, str] = {}
    start = 0
    while start < len(content) and content[start]:
        digits, _, _ = content[start : start + 8].partition(b" ")
        end = start + (int(digits) if digits.isdigit() else 0)
        key, equals, value = content[start + len(digits) + 1 : end].partition(b"=")
        if not equals or not value.endswith(b"\n"):
            raise Damaged("one of its headers is damaged")
        found[_text(key)] = _text(value[:-1])
        start = end
    return found


def _member(
    header: bytes, info: tarfile.TarInfo, said: dict[str, str], stream: _Stream
) -> Iterator[Member]:
    """Yield one member, and leave its content behind."""
    is_sparse = info.type == tarfile.GNUTYPE_SPARSE or any("GNU.sparse" in key for key in said)
    goes_on = info.type == tarfile.GNUTYPE_SPARSE and header[482]
    while goes_on:
        goes_on = stream.take(BLOCK)[504]
    size, begin = _size(info, said), stream.place
    is_folder = info.isdir()
    why = "" if is_folder else _objection(info, is_sparse=is_sparse)
    yield Member(said.get("path", info.name), is_folder, why, partial(_read, stream, size))
    if _has_content(info):
        stream.skip_to(_padded(begin + size))


def _read(stream: _Stream, size: int, most: int) -> bytes:
    return stream.take(min(size, most))


def _size(info: tarfile.TarInfo, said: dict[str, str]) -> int:
    size = said.get("size", "")
    if not size:
        return info.size
    if not (size.isascii() and size.isdigit() and len(size) < 20):
        raise Damaged("one of its headers is damaged")
    return int(size)


def _has_content(info: tarfile.TarInfo) -> bool:
    """Return whether a member's size is that of bytes behind its header, as the standard has it."""
    return info.isreg() or info.type not in tarfile.SUPPORTED_TYPES


def _objection(info: tarfile.TarInfo, *, is_sparse: bool) -> str:
    if info.islnk() or info.issym():
        return "it is a link"
    if is_sparse:
        return "it is a sparse file"
    if not info.isreg() or stat.S_IFMT(info.mode) not in (0, stat.S_IFREG):
        return "it is no regular file"
    return ""


def _padded(place: int) -> int:
    return -(-place // BLOCK) * BLOCK


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
