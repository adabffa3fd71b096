"""Likeness without a run: the same program, or the same but for the words of its errors."""

import pytest

from grader.instructor.likeness import fingerprint, same_but_for_wording

SOURCE = '''
def clip(value, most=2):
    """Bound a value."""
    if value > most:
        raise ValueError(f"{value} is over {most}")
    return [one for one in (1, 0.0, value)]
'''
REFUSAL = 'raise ValueError(f"{value} is over {most}")'


def _changed(old: str, new: str) -> str:
    assert old in SOURCE
    return SOURCE.replace(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Bound a value.", "Keep a value within bounds."),
        ("\ndef", "\n\n# a comment\n\ndef"),
        ("value > most", "(value > most)"),
        ("most=2", "most=1 + 1"),
        ("for one in (1, 0.0, value)", "for one in (1, 0.0, value,)"),
    ],
)
def test_the_same_program_has_the_same_fingerprint(old: str, new: str) -> None:
    """Docstrings, lines and what the compiler folds make no other."""
    assert fingerprint(_changed(old, new)) == fingerprint(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("value > most", "value >= most"),
        ("most=2", "most=3"),
        ("(1, ", "(True, "),
        ("(1, ", "(1.0, "),
        ("0.0", "-0.0"),
        ("is over", "is above"),
        ("[one for", "[-one for"),
        ("value > most", "most > value"),
        ("def clip(value,", "def clip(value, /,"),
    ],
)
def test_another_program_has_another_fingerprint(old: str, new: str) -> None:
    """Also where only a constant differs that equals the other, or something nested."""
    assert fingerprint(_changed(old, new)) != fingerprint(SOURCE)


def test_a_docstring_alone_leaves_a_function_that_does_nothing() -> None:
    """As with `pass`."""
    assert fingerprint('def f():\n    """Do nothing."""\n') == fingerprint("def f():\n    pass\n")


@pytest.mark.parametrize(
    "new", ["raise ValueError(None)", "raise ValueError('no')", "raise ValueError(f'{value}')"]
)
def test_another_text_of_an_error_is_wording(new: str) -> None:
    """Or none at all."""
    assert same_but_for_wording(SOURCE, _changed(REFUSAL, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (REFUSAL, "raise TypeError(None)"),
        (REFUSAL, "raise ValueError"),
        (REFUSAL, "raise ValueError(value)"),
        (REFUSAL, "raise ValueError(None, None)"),
        (REFUSAL, "pass"),
        ("value > most", "value >= most"),
    ],
)
def test_anything_else_is_not(old: str, new: str) -> None:
    """The kind of the error, or what stands elsewhere."""
    assert not same_but_for_wording(SOURCE, _changed(old, new))


def test_a_text_that_is_not_an_errors_is_not_wording() -> None:
    """A returned text is a result."""
    assert not same_but_for_wording("x = f('a')\n", "x = f('b')\n")
