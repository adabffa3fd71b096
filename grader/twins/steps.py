"""Steps that run and change nothing, so that what is executed tells as little as what is written.

A test may count which operations a call performs, by a tracer or by objects that note what is
done to them. In a twin expressions are worked out more often than needed, and so are those of
the mutants, in the reference and in every mutant alike.
"""

import ast
import copy
from collections.abc import Iterable, Iterator

from .means import Means, assignment
from .scopes import blocks, functions, parameters, stored

MOST_TIMES, MOST_SHAPES, MOST_IDLE = 2, 5, 2
NUMPY = ("np", "numpy")
# Built-in functions that do nothing but answer.
ANSWERING = frozenset({"abs", "bool", "float", "int", "len", "max", "min", "range", "slice"})
IDLE = (
    "[3, 5, 8][1] - 2",
    "dict(size=4)['size']",
    "max([2, 7]) < 5",
    "(lambda value: value * 3)(4)",
    "[*range(3)][-1]",
    "str(12)[0] == '1'",
    "sorted({2: 'a', 1: 'b'}, reverse=True)[0]",
)
# Whether, or how often, their parts are worked out depends on more than where they stand.
CONDITIONAL = (
    ast.IfExp
    | ast.BoolOp
    | ast.Lambda
    | ast.ListComp
    | ast.SetComp
    | ast.DictComp
    | ast.GeneratorExp
    | ast.NamedExpr
    | ast.Await
    | ast.Yield
    | ast.YieldFrom
    | ast.JoinedStr
)
WORK = ast.Subscript | ast.BinOp | ast.Call | ast.Compare


def idling(tree: ast.Module, means: Means) -> ast.Module:
    """Put steps with numbers of their own into functions."""
    taken = stored([tree]) | {node.name for node in tree.body if hasattr(node, "name")}
    usable = [text for text in IDLE if not _names(ast.parse(text)) & taken]
    for function in functions(tree):
        for _ in range(means.choice.randint(1, MOST_IDLE) if usable else 0):
            first = 1 if ast.get_docstring(function) is not None else 0
            value = ast.parse(means.choice.choice(usable), mode="eval").body
            step = assignment(means.fresh(), value)
            function.body.insert(means.choice.randint(first, len(function.body)), step)
    return tree


def repeating(tree: ast.Module, means: Means) -> ast.Module:
    """Work expressions out beforehand, some of them several times."""
    for block in blocks(tree):
        found: list[ast.stmt] = []
        for statement in block:
            for value in _early(statement):
                times = means.choice.randrange(MOST_TIMES + 1) if means.choice.random() < 0.5 else 0
                found += [assignment(means.fresh(), copy.deepcopy(value)) for _ in range(times)]
            found.append(statement)
        block[:] = found
    return tree


def _early(statement: ast.stmt) -> list[ast.expr]:
    """Return the quiet parts of a statement that are worked out before anything else happens."""
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Assign | ast.Return | ast.Expr) or value is None:
        return []
    found: list[ast.expr] = []
    for part in _in_order(value):
        quiet = isinstance(part, ast.expr) and quiet_expression(part)
        if isinstance(part, CONDITIONAL) or (isinstance(part, ast.Call) and not quiet):
            break
        if quiet and isinstance(part, WORK) and isinstance(part, ast.expr):
            found.append(part)
    return found


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of an expression in the order in which they are worked out."""
    if not isinstance(node, CONDITIONAL):
        for child in ast.iter_child_nodes(node):
            yield from _in_order(child)
    yield node


def quiet_expression(node: ast.expr) -> bool:
    """Return whether an expression has no effect that another could see: only numpy is called."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and not _is_numpy(part.func):
            return False
        if isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom | ast.Starred):
            return False
    return True


def _is_numpy(called: ast.expr) -> bool:
    root = called
    while isinstance(root, ast.Attribute):
        root = root.value
    known = isinstance(root, ast.Name) and root.id in (*NUMPY, "len", "range")
    return known and "random" not in ast.unparse(called)


def living(tree: ast.Module, means: Means) -> ast.Module:
    """Work out what mutants changed, both sides of it, and do nothing with it.

    Of expressions that differ in names and numbers only, one is enough.
    """
    leaves = _leaves(tree)
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name.islower()
    }
    for function in functions(tree):
        known = (leaves - {function.name}) | imported | ANSWERING
        known -= stored(function.body) | parameters(function)
        texts = [decoy.text for decoy in means.decoys if decoy.function == function.name]
        values = [value for one in texts for value in _workable(one, known)]
        means.choice.shuffle(values)
        chosen = list({_shape(value): value for value in values}.values())[:MOST_SHAPES]
        steps = [value for value in chosen for _ in range(means.choice.randint(1, MOST_TIMES))]
        means.choice.shuffle(steps)
        place = max(len(function.body) - 1, 1 if ast.get_docstring(function) is not None else 0)
        function.body[place:place] = [_attempt(means.fresh(), value) for value in steps]
    return tree


def _shape(value: ast.expr) -> str:
    """Return what an expression does, whatever it does it to."""
    kinds = [type(part) for part in ast.walk(value) if not isinstance(part, ast.Constant)]
    called = [ast.dump(part.func) for part in ast.walk(value) if isinstance(part, ast.Call)]
    return f"{kinds}{called}"


def _workable(text: str, known: Iterable[str]) -> list[ast.expr]:
    """Return the largest expressions of a statement that call nothing but what is known."""
    allowed = frozenset(known)
    lines = "\n".join(f"    {line}" for line in text.splitlines())
    waiting: list[ast.AST] = list(ast.parse(f"def holder():\n{lines}").body)
    largest: list[ast.expr] = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, WORK | ast.Tuple | ast.List) and _calls_only(node, allowed):
            if any(isinstance(part, WORK) for part in ast.walk(node)):
                largest.append(node)
            continue
        if not isinstance(node, CONDITIONAL):
            waiting += ast.iter_child_nodes(node)
    return largest


def _calls_only(node: ast.expr, allowed: frozenset[str]) -> bool:
    if any(isinstance(part, ast.Name) and not _is_read(part) for part in ast.walk(node)):
        return False
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and not _is_numpy(part.func):
            if not (isinstance(part.func, ast.Name) and part.func.id in allowed):
                return False
        elif isinstance(part, CONDITIONAL | ast.Starred):
            return False
    return True


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _attempt(name: str, value: ast.expr) -> ast.Try:
    value = copy.deepcopy(value)  # what is renamed later is renamed once
    ignore = ast.ExceptHandler(ast.Name("Exception", ast.Load()), None, [ast.Pass()])
    return ast.Try([assignment(name, value)], [ignore], [], [])


def _leaves(tree: ast.Module) -> set[str]:
    """Return the module's private functions that call none of its own."""
    private = {
        node.name: _names(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_")
    }
    return {name for name, used in private.items() if not used & private.keys()}


def _names(tree: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(tree) if isinstance(part, ast.Name)}
