"""Mechanical mutants: how they are generated, and how decisions outlive a new generation."""

import ast
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.instructor import candidates as adapter
from grader.instructor.candidates import Candidate, generate
from grader.instructor.pool import decide, merge, parse, render
from grader.mutants import MechanicalPool
from grader.problems import Unusable

ROOT = Path(__file__).resolve().parents[3]

SOURCE = '''\
"""A module."""

LIMIT = 3


def clip(value):
    """Return the value within bounds."""
    if value > 2:
        return 2
    if value < -2:
        return -2
    return value


def twice(value):
    value = value + 1
    value = abs(value)
    value = value + 1
    return value


class Counter:
    step = 1

    def advance(self, count):
        return count + self.step
'''


def _planted(candidate: Candidate, source: str = SOURCE) -> str:
    assert source.count(candidate.replace) == 1
    return source.replace(candidate.replace, candidate.replacement)


def _pool(found: list[Candidate]) -> MechanicalPool:
    mutants = tuple(decide(candidate, "scored") for candidate in found)
    return MechanicalPool(generator="mutmut 0", module="m", mutant=mutants)


def test_every_edit_fits_once_and_makes_another_program() -> None:
    """No two mutants are the same, and none is the original."""
    texts = [_planted(candidate) for candidate in generate("m", SOURCE)]
    trees = [ast.dump(ast.parse(text)) for text in [SOURCE, *texts]]
    assert len(texts) > 10
    assert len(set(trees)) == len(trees)


def test_only_functions_and_methods_are_mutated() -> None:
    """Constants of modules and classes are in use before a test can run."""
    found = generate("m", SOURCE)
    assert {candidate.function for candidate in found} == {"clip", "twice", "advance"}
    assert all("LIMIT" not in candidate.replace for candidate in found)


def test_a_candidate_says_where_it_is_and_what_it_does() -> None:
    """The line is the changed one, the operator a short name."""
    (candidate,) = (c for c in generate("m", SOURCE) if "count - self.step" in c.replacement)
    assert candidate.operator == "arithmetic"
    assert candidate.line == 1 + SOURCE.split("\n").index("        return count + self.step")
    assert candidate.replace == "        return count + self.step"


@pytest.mark.parametrize(
    ("line", "operators"),
    [
        ("x = 1", {"assignment-to-None", "number"}),
        ("x += 1", {"accumulation-dropped", "arithmetic", "number"}),
        ("return not a", {"negation-dropped"}),
        ("return -a", {"sign"}),
        ("return f(a, b)", {"argument-to-None", "argument-removed"}),
        ("return dict(a=b)", {"argument-to-None", "keyword-renamed"}),
        ("return a.lower()", {"method-swapped"}),
        ("return 'a'", {"string"}),
        ("return a is b", {"identity"}),
        ("return a in b", {"membership"}),
        ("return a < b", {"comparison"}),
        ("return a and b", {"boolean"}),
        ("return True", {"name-swapped"}),
        ("return lambda: a", {"lambda-to-None"}),
        ("return a if b else c", {"condition-forced"}),
        ("while a: break", {"loop-exit"}),
    ],
)
def test_operators_have_names(line: str, operators: set[str]) -> None:
    """Each kind of change that mutmut makes is told from the others."""
    found = generate("m", f"def function(a, b, c):\n    {line}\n")
    assert {candidate.operator for candidate in found} == operators


def test_the_same_change_in_two_places_is_two_mutants() -> None:
    """Their edits take in neighbouring lines, and their ids differ."""
    found = [c for c in generate("m", SOURCE) if "    value = value - 1" in c.replacement]
    first, second = found
    assert first.id != second.id
    assert first.line + 2 == second.line
    assert _planted(first) != _planted(second)


def test_ids_outlive_edits_elsewhere() -> None:
    """Only the function and the changed line make an id."""
    moved = SOURCE.replace("class Counter", "def other():\n    return 7\n\n\nclass Counter")
    moved = moved.replace('"""A module."""', '"""A module.\n\nWith more words.\n"""')
    before = {candidate.id: candidate.line for candidate in generate("m", SOURCE)}
    after = {candidate.id: candidate.line for candidate in generate("m", moved)}
    assert before.keys() < after.keys()
    assert all(after[id_] > line for id_, line in before.items())


def test_generation_reads_no_configuration_of_the_directory_it_runs_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that tells mutmut to leave everything alone changes nothing."""
    (tmp_path / "setup.cfg").write_text("[mutmut]\ndo_not_mutate_patterns=.*\n", encoding="utf-8")
    expected = generate("m", SOURCE)
    monkeypatch.chdir(tmp_path)
    assert generate("m", SOURCE) == expected
    assert Path.cwd() == tmp_path


def test_another_version_of_mutmut_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would generate other mutants."""
    monkeypatch.setattr(adapter, "version", lambda _: "3.9.0")
    with pytest.raises(Unusable, match=r"3\.9\.0 is installed"):
        generate("m", SOURCE)


def test_a_missing_mutmut_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which version to install."""

    def not_installed(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(adapter, "version", not_installed)
    with pytest.raises(Unusable, match=r"mutmut 3\.8\.1 is needed, none"):
        generate("m", SOURCE)


def test_grader_needs_no_mutmut_to_read_a_pool() -> None:
    """Only generating imports it."""
    code = "import sys, grader.instructor.pool; sys.exit('mutmut' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_merging_keeps_decisions_where_their_mutants_moved_to() -> None:
    """Status, reason and flags stay; line and edit follow the source."""
    old = _pool(generate("m", SOURCE))
    judged = old.mutant[0].model_copy(
        update={"status": "equivalent", "reason": "No input tells them apart.", "hangs": True}
    )
    old = old.model_copy(update={"mutant": (judged, *old.mutant[1:])})
    shifted = generate("m", SOURCE.replace("LIMIT = 3", "LIMIT = 3\nFLOOR = 1"))
    pool, drift = merge(old, shifted)
    assert not drift
    assert pool.generator == adapter.GENERATOR
    kept = pool.mutant[0]
    assert (kept.status, kept.reason, kept.hangs) == (
        "equivalent",
        "No input tells them apart.",
        True,
    )
    assert kept.line == judged.line + 1


def test_drift_names_what_is_new_and_what_vanished() -> None:
    """A new mutant isn't in the pool before a person has judged it."""
    changed = SOURCE.replace("count + self.step", "count * self.step")
    pool, drift = merge(_pool(generate("m", SOURCE)), generate("m", changed))
    assert [candidate.replacement.strip() for candidate in drift.new] == [
        "return count / self.step"
    ]
    assert [mutant.edits[0].by.strip() for mutant in drift.vanished] == ["return count - self.step"]
    assert not {candidate.id for candidate in drift.new} & {mutant.id for mutant in pool.mutant}


def test_drift_names_duplicates_of_what_vanished() -> None:
    """Their exclusion has lost its ground."""
    first, second, third = generate("m", SOURCE)[:3]
    old = MechanicalPool(
        generator="mutmut 0",
        module="m",
        mutant=(
            decide(first, "scored"),
            decide(second, f"duplicate-of {first.id}", "The same bytecode."),
            decide(third, "scored"),
        ),
    )
    pool, drift = merge(old, [second, third])
    assert [mutant.id for mutant in drift.stale] == [second.id]
    assert [mutant.id for mutant in pool.mutant] == [second.id, third.id]


def test_a_duplicate_of_a_named_mutant_never_goes_stale() -> None:
    """Named ones are written by hand, and no generation makes or drops them."""
    first, second = generate("m", SOURCE)[:2]
    judged = decide(second, "duplicate-of s05", "The same bytecode.")
    old = MechanicalPool(generator="mutmut 0", module="m", mutant=(decide(first, "scored"), judged))
    pool, drift = merge(old, [second])
    assert pool.mutant == (judged,)
    assert drift.stale == ()


@given(st.data())
def test_no_decision_is_ever_lost(data: st.DataObject) -> None:
    """Each stands in the pool or in the drift, and never in both."""
    universe = [Candidate(f"m-{n:08x}", "number", "f", n + 1, f"a{n}", f"b{n}") for n in range(6)]
    before = data.draw(st.lists(st.sampled_from(universe), unique=True))
    now = data.draw(st.lists(st.sampled_from(universe), unique=True))
    pool, drift = merge(_pool(before), now)
    kept, vanished = list(pool.mutant), list(drift.vanished)
    assert sorted(m.id for m in kept + vanished) == sorted(c.id for c in before)
    assert sorted([m.id for m in kept] + [c.id for c in drift.new]) == sorted(c.id for c in now)


texts = st.text(min_size=1) | st.text(alphabet="a'\"\\\n\t\r\x00\x7f", min_size=1)


@given(texts, st.text(), st.text(min_size=1).filter(str.strip), st.booleans())
def test_a_pool_reads_back_as_it_was_written(
    replace: str, replacement: str, reason: str, hangs: bool
) -> None:
    """Whatever quotes, backslashes and control characters its texts hold."""
    candidate = Candidate("m-00000001", "string", "f", 7, replace, replacement)
    mutant = decide(candidate, "equivalent", reason).model_copy(update={"hangs": hangs})
    pool = MechanicalPool(generator="mutmut 3.8.1", module="a.b", mutant=(mutant,))
    assert parse(render(pool)) == pool


def test_edits_are_written_to_be_read() -> None:
    """A line of code stands in the file as it stands in the source."""
    (candidate,) = (c for c in generate("m", SOURCE) if "count - self.step" in c.replacement)
    assert "with = '''\n        return count - self.step'''\n" in render(_pool([candidate]))


def test_the_committed_pool_is_what_the_reference_gives() -> None:
    """Generating anew finds nothing to judge and nothing lost."""
    text = (ROOT / "mutants" / "L3.4" / "mechanical.toml").read_text(encoding="utf-8")
    reference = (ROOT / "reference" / "tinyllm" / "rnn" / "bi.py").read_text(encoding="utf-8")
    pool, drift = merge(parse(text), generate("tinyllm.rnn.bi", reference))
    assert not drift
    assert render(pool) == text
