"""Entry of the worker: the trusted process serves, and each forked child becomes a cell."""

from .cell import live
from .zygote import serve


def main() -> None:
    """Serve cells until standard input ends; in a forked child, live and end as a cell."""
    birth = serve()
    if birth is not None:
        live(birth)
