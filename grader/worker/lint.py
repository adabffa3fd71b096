"""Remarks on tests that do less than their author thinks: one rule a habit, in one table."""

import ast
from collections.abc import Callable, Collection, Iterator, Sequence

from .names import Function, inside, last_name
from .source import Source

MOST_OF_A_RULE, MOST = 5, 20
CHECKING = ("assert", "raises", "warns", "fail", "expect", "verify", "check", "deprecated_call")
COMPARING = frozenset(
    {"all", "any", "isinstance", "math.isclose", "numpy.all", "numpy.allclose", "numpy.any"}
    | {"numpy.array_equal", "numpy.array_equiv", "numpy.isclose"}
)
SWALLOWED = frozenset({"Exception", "BaseException", "AssertionError"})
UNSEEDED = frozenset({"numpy.random.default_rng", "numpy.random.RandomState", "random.Random"})
# Of ``random`` and ``numpy.random``, what draws nothing from the state that a session shares.
STATELESS = frozenset(
    {"default_rng", "RandomState", "Generator", "Random", "SystemRandom", "SeedSequence"}
    | {"PCG64", "Philox", "seed", "getstate", "setstate", "get_state", "set_state"}
)

Remark = tuple[str, str, int]
Found = Iterator[tuple[str, int]]


def remarks(tree: ast.Module, modules: Collection[str] = ()) -> list[Remark]:
    """Return what is to be said about a file's tests: rule, name and line."""
    source = Source(tree, modules)
    found: list[Remark] = []
    for rule, look in RULES.items():
        places = sorted(set(look(source)), key=lambda place: (place[1], place[0]))
        found += [(rule, name, line) for name, line in places[:MOST_OF_A_RULE]]
    return sorted(found, key=lambda remark: (remark[2], remark[0]))[:MOST]


def duplicates(source: Source) -> Found:
    """Yield tests that another of the same name replaces."""
    bodies = [source.tree.body]
    bodies += [node.body for node in source.nodes if isinstance(node, ast.ClassDef)]
    for body in bodies:
        seen: set[str] = set()
        for node in body:
            if isinstance(node, Function | ast.ClassDef) and node.name.lower().startswith("test"):
                if node.name in seen:
                    yield node.name, node.lineno
                seen.add(node.name)


def returned_values(source: Source) -> Found:
    """Yield tests that return what they should assert."""
    for name, test in source.tests:
        for node in inside(test.body):
            if isinstance(node, ast.Return) and node.value is not None:
                is_none = isinstance(node.value, ast.Constant) and node.value.value is None
                if not is_none and not _leaves_checking(source, node.value):
                    yield name, node.lineno


def _leaves_checking(source: Source, value: ast.expr) -> bool:
    """Return whether ``value`` is what a helper returns that checks by itself."""
    called = last_name(value.func) if isinstance(value, ast.Call) else None
    return any(_checks(source, node.body) for _, node in source.functions if node.name == called)


def asserted_tuples(source: Source) -> Found:
    """Yield assertions of a tuple, which always hold."""
    for node in source.nodes:
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Tuple) and node.test.elts:
            yield "assert (…, …)", node.lineno


def unused_comparisons(source: Source) -> Found:
    """Yield comparisons whose result nobody looks at."""
    for node in source.nodes:
        if not isinstance(node, ast.Expr) or node in source.expected_to_raise:
            continue
        value = node.value
        negated = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not)
        if isinstance(value, ast.Compare) or negated:
            yield "a comparison", node.lineno
        elif isinstance(value, ast.Call) and (name := source.name(value.func)) in COMPARING:
            yield name, node.lineno


def swallowed_failures(source: Source) -> Found:
    """Yield handlers that catch a failed assertion and don't raise."""
    for node in source.nodes:
        if isinstance(node, ast.Try) and _checks(source, node.body):
            for handler in node.handlers:
                if _catches_all(handler.type) and not _checks(source, handler.body):
                    yield "except", handler.lineno
        elif isinstance(node, ast.With) and _checks(source, node.body):
            for item in node.items:
                used = item.context_expr
                if source.calls_one_of(used, ("suppress",)) and any(
                    map(_catches_all, getattr(used, "args", ()))
                ):
                    yield "suppress", node.lineno


def _catches_all(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Tuple):
        return any(map(_catches_all, node.elts))
    return node is None or (isinstance(node, ast.Name) and node.id in SWALLOWED)


def _checks(source: Source, body: Sequence[ast.AST]) -> bool:
    """Return whether something below ``body`` may fail a test by itself."""
    for top in body:
        for node in ast.walk(top):
            if isinstance(node, ast.Assert | ast.Raise):
                return True
            if isinstance(node, ast.Call) and last_name(node.func).startswith(CHECKING):
                return True
            if isinstance(node, ast.Attribute | ast.Name) and source.name(node) == "pytest.skip":
                return True
    return False


def _settings(source: Source) -> Iterator[tuple[str, ast.expr, int]]:
    """Yield what is given to Hypothesis' settings, by keyword."""
    for name, call in source.calls:
        if name.startswith("hypothesis.") and name.endswith((".settings", ".register_profile")):
            for keyword in call.keywords:
                if keyword.arg is not None:
                    yield keyword.arg, keyword.value, keyword.value.lineno


def few_examples(source: Source) -> Found:
    """Yield properties that see a single input."""
    for key, value, line in _settings(source):
        if key == "max_examples" and isinstance(value, ast.Constant) and value.value == 1:
            yield "max_examples=1", line


def no_examples(source: Source) -> Found:
    """Yield properties for which nothing is generated."""
    for key, value, line in _settings(source):
        if key == "phases" and isinstance(value, ast.List | ast.Tuple | ast.Set):
            listed = [last_name(one) for one in value.elts]
            if "generate" not in listed and all(listed):
                yield "phases", line


def own_deadlines(source: Source) -> Found:
    """Yield deadlines, which grader switches off."""
    for key, value, line in _settings(source):
        if key == "deadline" and not (isinstance(value, ast.Constant) and value.value is None):
            yield "deadline", line


def loaded_profiles(source: Source) -> Found:
    """Yield profiles loaded over grader's settings."""
    for name, call in source.calls:
        if name == "hypothesis.settings.load_profile":
            yield "load_profile", call.lineno


def yielding_tests(source: Source) -> Found:
    """Yield tests that are generators."""
    for name, test in source.tests:
        if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in inside(test.body)):
            yield name, test.lineno


def async_tests(source: Source) -> Found:
    """Yield tests that nobody awaits."""
    in_loops = {
        f"{node.name}::"
        for node in source.nodes
        if isinstance(node, ast.ClassDef)
        if any(last_name(base) == "IsolatedAsyncioTestCase" for base in node.bases)
    }
    for name, test in source.tests:
        if isinstance(test, ast.AsyncFunctionDef) and not name.startswith(tuple(in_loops)):
            yield name, test.lineno


def star_imports(source: Source) -> Found:
    """Yield imports of whatever a module has."""
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            yield f"{'.' * node.level}{node.module or ''}", node.lineno


def unseeded_randomness(source: Source) -> Found:
    """Yield randomness that is another in each run; within ``@given`` Hypothesis seeds its own."""
    for name, call in source.calls:
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if name in UNSEEDED and all(isinstance(a, ast.Constant) and a.value is None for a in given):
            yield name, call.lineno
    if any(name.endswith(".seed") for name, _ in source.calls):
        return
    for _, test in source.tests:
        if not source.decorated(test, "given"):
            for node in inside(test.body):
                if isinstance(node, ast.Call) and _is_drawn(name := source.name(node.func)):
                    yield name, node.lineno


def _is_drawn(name: str) -> bool:
    module, _, function = name.rpartition(".")
    return module in ("random", "numpy.random") and function not in STATELESS


def inputs_read(source: Source) -> Found:
    """Yield waits for somebody who types."""
    named = {node.arg for node in source.nodes if isinstance(node, ast.arg)}
    if "input" not in source.helpers | source.imported.keys() | named:
        for name, call in source.calls:
            if name == "input":
                yield "input()", call.lineno


def nested_sessions(source: Source) -> Found:
    """Yield runs of pytest inside a test run, but for those of a file run as a program."""
    for node in source.nodes:
        if isinstance(node, Function):
            for inner in inside(node.body):
                if isinstance(inner, ast.Call) and source.name(inner.func) == "pytest.main":
                    yield "pytest.main", inner.lineno


def idle_tests(source: Source) -> Found:
    """Yield tests in which nothing can fail but the code under test itself."""
    for name, test in source.tests:
        given = {node.arg for node in ast.walk(test.args) if isinstance(node, ast.arg)}
        if _is_a_stub(test) or _checks(source, test.body):
            continue
        called = [node.func for node in ast.walk(test) if isinstance(node, ast.Call)]
        if not any(_is_helper(func, source.helpers | given) for func in called):
            yield name, test.lineno


def _is_a_stub(test: Function) -> bool:
    """Return whether a test only stands for one to come, or for one that an heir has."""
    return all(
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and node.value.value is ...
        for node in test.body
    )


def _is_helper(func: ast.AST, helpers: Collection[str]) -> bool:
    while isinstance(func, ast.Attribute):
        if func.attr in helpers:
            return True
        func = func.value
    if isinstance(func, ast.Call):
        return last_name(func.func) == "super" or _is_helper(func.func, helpers)
    return isinstance(func, ast.Name) and (
        func.id in helpers or func.id.startswith("run_state_machine")
    )


RULES: dict[str, Callable[[Source], Found]] = {
    "duplicate": duplicates,
    "returns": returned_values,
    "tuple": asserted_tuples,
    "comparison": unused_comparisons,
    "swallows": swallowed_failures,
    "one-example": few_examples,
    "no-example": no_examples,
    "deadline": own_deadlines,
    "profile": loaded_profiles,
    "yield": yielding_tests,
    "async": async_tests,
    "star": star_imports,
    "unseeded": unseeded_randomness,
    "stdin": inputs_read,
    "nested": nested_sessions,
    "idle": idle_tests,
}
