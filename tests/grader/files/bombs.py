"""Archives that would cost a careless reader all the memory or the time there is."""

import gzip
import json
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

GIGABYTES = 4 << 30


def _zeros_in_zip(path: Path) -> None:
    """4 GB in 4 MB, behind an honest name."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    piece = packer.compress(bytes(16 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("test_zeros.py", piece * (GIGABYTES >> 24) + packer.flush())
    data, entry = bytearray(path.read_bytes()), path.read_bytes().rindex(b"PK\x01\x02")
    data[8] = data[entry + 10] = zipfile.ZIP_DEFLATED
    data[entry + 24 : entry + 28] = b"\xff\xff\xff\xfe"
    path.write_bytes(data)


def _many_large_files(path: Path) -> None:
    """Each at the limit of one."""
    content = b"#" * (512 << 10)
    _zip(path, {f"d{number}/test_{number}.py": content for number in range(200)})


def _overlapping(path: Path) -> None:
    """One stream of zeros under a thousand names."""
    _zip(path, {"test_0.py": bytes(500_000)})
    data = path.read_bytes()
    begin = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry = data[begin:end]
    entries = b"".join(entry.replace(b"test_0.py", b"test_%c.py" % (65 + n)) for n in range(26))
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 26, 26, len(entries), begin, 0)
    path.write_bytes(data[:begin] + entries + tail)


def _many_members(path: Path) -> None:
    """A directory that is dear to read."""
    _zip(path, {f"test_{number}.py": b"" for number in range(100_000)})


def _many_tar_members(path: Path) -> None:
    _raw_tar(path, (tarfile.TarInfo(f"test_{number}.py").tobuf() for number in range(100_000)))


def _zeros_in_tar(path: Path) -> None:
    info = tarfile.TarInfo("test_zeros.py")
    info.size = GIGABYTES
    _raw_tar(path, [info.tobuf(tarfile.GNU_FORMAT), *[bytes(1 << 20)] * 1000])


def _zeros_before_a_header(path: Path) -> None:
    """Blocks that any reader passes over."""
    _raw_tar(path, [bytes(1 << 20)] * 1000)


def _huge_pax_header(path: Path) -> None:
    """A reader that believes its size takes all of it into memory."""
    info = _special("x", tarfile.XHDTYPE)
    info.size = GIGABYTES
    _raw_tar(path, [info.tobuf(tarfile.GNU_FORMAT), *[b"9" * (1 << 20)] * 1000])


def _endless_pax_headers(path: Path) -> None:
    """Each within its limit, and no member among them."""
    info = _special("x", tarfile.XHDTYPE)
    records = b"6 a=b\n" * 10_000
    info.size = len(records)
    block = info.tobuf(tarfile.GNU_FORMAT) + records + bytes(-len(records) % 512)
    _raw_tar(path, [block] * 4000)


def _endless_empty_headers(path: Path) -> None:
    """As before, without any content."""
    _raw_tar(path, [_special("x", tarfile.XGLTYPE).tobuf() * 1000] * 1000)


def _endless_sparse_map(path: Path) -> None:
    """A header that goes on for as long as it likes."""
    header = bytearray(_special("test_a.py", tarfile.GNUTYPE_SPARSE).tobuf(tarfile.GNU_FORMAT))
    header[482] = 1
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + sum(header[156:]) + 8 * 32)
    _raw_tar(path, [bytes(header), *[b"\x01" * (1 << 20)] * 400])


def _endless_gzip_name(path: Path) -> None:
    """A name of 10 MB before the first byte."""
    path.write_bytes(b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * (10 << 20))


def _many_gzip_parts(path: Path) -> None:
    """Half a million, of nothing each."""
    path.write_bytes(gzip.compress(b"") * 500_000)


def _deep_folders(path: Path) -> None:
    """Memory of their own for each."""
    names = ["/".join([f"d{number}", *"a" * 15, "test_a.py"]) for number in range(9000)]
    _raw_tar(path, (tarfile.TarInfo(name).tobuf() for name in names))


def _zip(path: Path, files: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)


def _special(name: str, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    return info


def _raw_tar(path: Path, blocks: Iterable[bytes]) -> None:
    """Write a gzipped tar archive piece by piece."""
    packer = zlib.compressobj(1, wbits=31)
    with path.open("wb") as file:
        for block in blocks:
            file.write(packer.compress(block))
        file.write(packer.flush())


BOMBS: list[Callable[[Path], None]] = [
    _zeros_in_zip,
    _many_large_files,
    _overlapping,
    _many_members,
    _many_tar_members,
    _zeros_in_tar,
    _zeros_before_a_header,
    _huge_pax_header,
    _endless_pax_headers,
    _endless_empty_headers,
    _endless_sparse_map,
    _endless_gzip_name,
    _many_gzip_parts,
    _deep_folders,
]


def cost_of_reading(path: Path) -> Mapping[str, Any]:
    """Return what the reading of an archive costs a process of its own."""
    code = f"""
import json, resource, sys, time
from pathlib import Path
from grader.files.archive import unpack
from grader.problems import Unusable
from grader.submission import take
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
before, began, refused = peak(), time.process_time(), False
try:
    take(unpack(Path({str(path)!r})).top, Path("bomb"))
except Unusable:
    refused = True
spent = time.process_time() - began
print(json.dumps(dict(refused=refused, seconds=spent, memory=peak() - before)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    cost: Mapping[str, Any] = json.loads(done.stdout)
    return cost
