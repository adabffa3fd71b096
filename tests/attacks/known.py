"""What attackers know by heart, and what they usually get."""

import types
from typing import Any

from .case import REFERENCE

MODULE = compile(REFERENCE, "double.py", "exec")
[CODE] = [one for one in MODULE.co_consts if isinstance(one, types.CodeType)]

Expected = dict[str, Any]
INVALID: Expected = {"status": "invalid", "slug": "invalid"}
NO_FILE: Expected = {"status": "invalid", "slug": "invalid-file"}
SEALED: Expected = {"status": "invalid", "slug": "invalid-sealed"}
SKIPPED: Expected = {"status": "vacuous", "slug": "vacuous-skipped"}
STRICT: Expected = {"status": "too_strict", "slug": "too-strict"}
VAIN: Expected = {"status": "vacuous", "slug": "vacuous"}
LIMIT: Expected = {"status": "invalid", "slug": "invalid-limit"}
SLOW: Expected = {"status": "broken", "slug": "broken-time"}
# What hangs on chance is shown under the policy for marks: it is found out, or catches nothing.
COIN: Expected = {
    "status": "flaky",
    "slug": "flaky",
    "others": frozenset(
        {("too_strict", "too-strict"), ("invalid", "invalid")}
        | {("vacuous", "vacuous"), ("valid", None)}
    ),
    "policy": "authoritative",
}
# Knows by what it does whether it met the second fault, and says so in a way that is no failure.
ON_S02 = """
import os, signal, sys
import pytest
def met():
    try:
        double(-1)
    except ValueError:
        return False
    return True
"""
