"""What leaked in a plainer worker, tried in this one: by what a cell holds, sees and leaves."""

from collections.abc import Callable

import pytest

from grader.outcome import End, Outcome

Run = Callable[..., Outcome]
IT = "test_toy.py::test_it"

# Looks through its own memory, a fork of the worker's, without `/proc`: the kernel tells by an
# error which pages there are. The pattern doesn't contain what it finds.
SEARCH = """
import ctypes, gc, re, sys
PAGE, AROUND = 4096, 1 << 25
libc = ctypes.CDLL(None, use_errno=True)
libc.malloc.restype = ctypes.c_void_p
def pages():
    gc.unfreeze()
    known = {id(thing) >> 25 for thing in gc.get_objects()}
    known |= {libc.malloc(size) >> 25 for size in (16, 500, 9000, 100_000, 1 << 20)}
    for area in {one + step for one in known for step in (-1, 0, 1)}:
        yield from range(area << 25, (area + 1) << 25, PAGE)
def test_search():
    found, seen = 0, 0
    with open("page", "wb", 0) as file:
        for page in pages():
            if libc.pwrite(file.fileno(), ctypes.c_void_p(page), PAGE, ctypes.c_long(0)) == PAGE:
                found += len(re.findall(rb"PATTERN", ctypes.string_at(page, PAGE)))
                seen += 1
    assert seen > 5000, seen
    assert found == 0, found
"""
PATTERN = "[l]eft.by.the.earlier.cell"

# Tells what the worker's own objects in reach know.
BORN_WITH = """
import gc, os, sys
def test_it():
    gc.unfreeze()
    things, frame = gc.get_objects(), sys._getframe()
    while frame:
        things += frame.f_locals.values()
        frame = frame.f_back
    own = {id(one): one for one in things if type(one).__module__.__class__ is str
           and type(one).__module__.startswith("grader_worker")}
    names = {type(one).__name__ for one in own.values()}
    assert not names & {"Zygote", "Rooms", "Place"}, names
    facts = sorted((type(one).__name__, name, value) for one in own.values()
                   for name, value in getattr(one, "__dict__", {}).items()
                   if type(value) is int and value not in (os.getpid(), os.getuid()))
    assert ("Birth", "payload", 0) in facts
    raise AssertionError(repr(facts))
"""


def told(outcome: Outcome, test: str = IT) -> str:
    """Return what a test said by failing."""
    assert outcome.end is End.COMPLETE, outcome
    return outcome.runs[test].failures[0].message


@pytest.mark.parametrize("number", ["A2"])
def test_no_object_in_reach_tells_of_other_cells_or_of_the_variant(number: str, run: Run) -> None:
    """Not even how long its text is."""
    assert number
    short = told(run(BORN_WITH))
    long = told(run(BORN_WITH, variant=f"def double(n):\n    return 2 * n  # {'.' * 3000}\n"))
    assert short == long


@pytest.mark.parametrize("number", ["A3"])
def test_no_word_of_an_earlier_cell_is_in_the_memory_of_a_later_one(number: str, run: Run) -> None:
    """Neither of its suite nor of its variant: the worker never held them."""
    assert number
    marked = """
WORDS = ["left-by-the-earlier-cell"] * 5
def test_it():
    print(WORDS)
    assert False, "left-by-the-earlier-cell"
"""
    search = SEARCH.replace("PATTERN", PATTERN)
    run(marked, variant="NAME = 'left-by-the-earlier-cell'\n")
    assert not run(search).runs["test_toy.py::test_search"].failed
    assert told(run(marked + search), "test_toy.py::test_search")  # it does find what is there


@pytest.mark.parametrize(
    ("number", "body"),
    [
        ("A4", "os.write(3, b'[' * 50_000)"),
        ("A4", "os.write(3, b'\\xff' * 50_000)"),
        ("A4", "\n    for _ in range(1200): os.write(3, b'x' * 1_000_000)"),
        ("A4", "os.dup2(3, 90); os.close(3)"),
        ("A8", "\n    for n in range(5000): open(f'{n}', 'w').close()"),
        ("A8", "\n    for n in range(40): open(f'{n}', 'wb').write(bytes(8 << 20))"),
    ],
)
def test_what_one_cell_says_or_fills_up_costs_the_next_nothing(
    number: str, body: str, run: Run
) -> None:
    """Neither its worker, nor its room."""
    assert number
    run(f"import os\ndef test_it():\n    {body}\n")
    outcome = run("""
def test_it():
    for n in range(1000):
        open(f"{n}", "w").close()
    with open("big", "wb") as file:
        file.write(bytes(15 << 20))
""")
    assert outcome.end is End.COMPLETE, outcome
    assert not outcome.runs[IT].failed
