"""Files that are written whole or not at all, whatever ends the writer."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .messages import message
from .problems import Void

# The folder takes no other file, or the file is a mount point, as it may be in a container.
NO_DRAFT = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)


@contextmanager
def keeping(path: Path, slug: str) -> Iterator[None]:
    """Raise `Void` with a message that names ``path`` where it can't be written."""
    try:
        yield
    except OSError as problem:
        raise Void(message(slug, path=path, why=problem.strerror), "machine") from None


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` to ``path``, which until then stays as it is.

    What is no regular file, such as a terminal, or can't be replaced by another file, is written
    to directly.

    Raises
    ------
    OSError
        If it can't be written; nothing is left behind then.
    """
    place = path.resolve()
    if place.exists() and not place.is_file():
        place.write_text(text, encoding="utf-8", newline="")
        return
    try:
        _replace(place, text)
    except OSError as problem:
        if problem.errno not in NO_DRAFT or not place.exists():
            raise
        place.write_text(text, encoding="utf-8", newline="")


def _replace(place: Path, text: str) -> None:
    """Put a new file in the place of an old one."""
    descriptor, name = tempfile.mkstemp(prefix=f".{place.name}-", dir=place.parent)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), _rights(place))
        draft.replace(place)
    except BaseException:
        draft.unlink()
        raise


def _rights(place: Path) -> int:
    """Return the rights that the file has, or that a new one would get."""
    if place.exists():
        return place.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
