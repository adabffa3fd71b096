"""Promises of saboteurs: no public function does its work."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from grader.saboteurs import Saboteur, sabotage

SOURCE = '''
import numpy as np

def double(x):
    """Twice x."""
    return _twice(x)

def both(x, y):
    return (x, [y])

def name():
    return "name"

def _twice(x):
    return 2 * x

class Adder:
    def __init__(self, amount):
        self.amount = amount

    def add(self, x):
        return self._sum(x)

    def __call__(self, x):
        return self.add(x)

    def _sum(self, x):
        return x + self.amount
'''


def sabotaged(kind: Saboteur) -> dict[str, Any]:
    """Run the sabotaged module and return its names."""
    module = ModuleType("module")
    exec(sabotage(SOURCE, kind), module.__dict__)
    return module.__dict__


def test_every_public_function_and_class_raises() -> None:
    module = sabotaged(Saboteur.RAISES)
    for action in (lambda: module["double"](1), lambda: module["Adder"](1), module["name"]):
        with pytest.raises(RuntimeError, match="sabotage"):
            action()


def test_every_public_function_returns_zeros_of_the_same_kind() -> None:
    module = sabotaged(Saboteur.ZEROS)
    np.testing.assert_array_equal(module["double"](np.ones((2, 3))), np.zeros((2, 3)))
    assert module["both"](3, 4.0) == (0, [0.0])
    assert module["Adder"](5).add(3) == 0
    assert module["Adder"](5)(3) == 0
    assert module["name"]() == ""


def test_every_public_function_returns_its_input() -> None:
    module = sabotaged(Saboteur.ECHOES)
    assert module["double"](7) == 7
    assert module["both"](y=4, x=3) == 4
    assert module["name"]() is None
    assert module["Adder"](5).add(3) == 3


def test_private_functions_and_everything_else_stay() -> None:
    for kind in Saboteur:
        module = sabotaged(kind)
        assert module["_twice"](2) == 4
