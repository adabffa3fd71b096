"""The kinds of rewrite, each with the clause of a contract that leaves it open.

Each is a pure function of a tree that it may change and a source of choices. None of them
assumes anything about the types that a module works with.
"""

import ast
import random
from collections.abc import Callable
from dataclasses import dataclass

from .decoys import Decoy
from .means import FRESH, Fresh, Means, assignment
from .scopes import blocks, functions, parameters, renamable, rename, stored
from .steps import idling, living, quiet_expression, repeating

Apply = Callable[[ast.Module, Means], ast.Module]
TEXTS = ("not acceptable", "this can't be", "a bad argument", "refused", "wrong input")
MOST_DECOYS = 24

CALM = (
    ast.Name
    | ast.Constant
    | ast.UnaryOp
    | ast.BinOp
    | ast.operator
    | ast.unaryop
    | ast.expr_context
    | ast.Attribute
    | ast.Tuple
)


@dataclass(frozen=True)
class Rewrite:
    """One kind of rewrite."""

    name: str
    clause: str
    apply: Apply


def _reworded(tree: ast.Module, means: Means) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            first = node.exc.args[0] if len(node.exc.args) == 1 else None
            is_text = isinstance(first, ast.JoinedStr) or (
                isinstance(first, ast.Constant) and isinstance(first.value, str)
            )
            if is_text:
                node.exc.args = [
                    ast.Constant(f"{means.choice.choice(TEXTS)} ({means.choice.randrange(100)})")
                ]
    return tree


def _undocumented(tree: ast.Module, means: Means) -> ast.Module:
    for node in (tree, *ast.walk(tree)):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(
            node
        ):
            node.body[0] = ast.Expr(
                ast.Constant(f"{means.choice.choice(FRESH)} {means.choice.choice(FRESH)}.")
            )
    return tree


def _decoyed(tree: ast.Module, means: Means) -> ast.Module:
    fresh = means.fresh
    never = fresh("_")
    chosen = means.choice.sample(list(means.decoys), min(len(means.decoys), MOST_DECOYS))
    by_function: dict[str, list[Decoy]] = {}
    for decoy in chosen:
        by_function.setdefault(decoy.function, []).append(decoy)
    for function in functions(tree):
        for decoy in by_function.pop(function.name, []):
            first = 1 if ast.get_docstring(function) is not None else 0
            place = means.choice.randint(first, len(function.body) - 1) if function.body else 0
            dead = ast.If(ast.Name(never, ast.Load()), _statements(decoy.text), [])
            function.body.insert(place, dead)
    return _with_global(tree, never, ast.parse("not __name__", mode="eval").body)


def _statements(text: str) -> list[ast.stmt]:
    """Parse a function's statements, which may return."""
    lines = "\n".join(f"    {line}" for line in text.splitlines())
    holder = ast.parse(f"def holder():\n{lines}").body[0]
    return holder.body if isinstance(holder, ast.FunctionDef) else []


def _with_global(tree: ast.Module, name: str, value: ast.expr) -> ast.Module:
    place = next(
        (
            number
            for number, node in enumerate(tree.body)
            if not isinstance(node, ast.Import | ast.ImportFrom)
            and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        ),
        len(tree.body),
    )
    tree.body.insert(place, assignment(name, value))
    return tree


class _Turner(ast.NodeTransformer):
    """Applies a change to expressions inside functions, each with a chance."""

    def __init__(self, choice: random.Random, chance: float) -> None:
        self.choice, self.chance, self.inside = choice, chance, 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.inside += 1
        node.body = [self.visit(part) for part in node.body]
        self.inside -= 1
        return node

    def turn(self) -> bool:
        return self.inside > 0 and self.choice.random() < self.chance

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node


TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}


class _Comparisons(_Turner):
    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        turned = TURNED.get(type(node.ops[0])) if len(node.ops) == 1 else None
        if turned and self.turn() and all(map(_still, (node.left, node.comparators[0]))):
            return ast.Compare(node.comparators[0], [turned()], [node.left])
        return node


def _still(node: ast.expr) -> bool:
    """Return whether evaluating ``node`` earlier or later makes no difference."""
    return all(isinstance(part, CALM) for part in ast.walk(node))


class _Conditions(_Turner):
    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if self.turn():
            return ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if self.turn():
            other = node.orelse or [ast.Pass()]
            return ast.If(ast.UnaryOp(ast.Not(), node.test), other, node.body)
        return node


class _Loops(_Turner):
    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        if self.turn():
            node.iter = ast.Call(ast.Name("iter", ast.Load()), [node.iter], [])
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self.generic_visit(node)
        if self.turn():
            generator = ast.GeneratorExp(node.elt, node.generators)
            return ast.Call(ast.Name("list", ast.Load()), [generator], [])
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        if self.turn() and not node.orelse:
            leave = ast.If(ast.UnaryOp(ast.Not(), node.test), [ast.Break()], [])
            return ast.While(ast.Constant(value=True), [leave, *node.body], [])
        return node


class _Slices(_Turner):
    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load) and self.turn():
            bounds = [node.slice.lower, node.slice.upper, node.slice.step]
            arguments = [bound or ast.Constant(None) for bound in bounds]
            node.slice = ast.Call(ast.Name("slice", ast.Load()), arguments, [])
        return node


class _Constants(_Turner):
    """Spells numbers by names of the module, or by the length of a text."""

    def __init__(self, choice: random.Random, chance: float, fresh: Fresh) -> None:
        super().__init__(choice, chance)
        self.fresh = fresh
        self.named: dict[tuple[type, object], str] = {}

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        number = node.value
        if not isinstance(number, int | float) or isinstance(number, bool) or not self.turn():
            return node
        key = (type(number), number)
        if key not in self.named:
            self.named[key] = self.fresh("_")
        return ast.Name(self.named[key], ast.Load())

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        return node

    def spelt(self, number: object) -> ast.expr:
        text = ast.Constant(repr(number))
        return ast.Call(ast.Name(type(number).__name__, ast.Load()), [text], [])


def _respelt(tree: ast.Module, means: Means) -> ast.Module:
    constants = _Constants(means.choice, 0.7, means.fresh)
    tree = constants.visit(tree)
    for (_kind, number), name in constants.named.items():
        tree = _with_global(tree, name, constants.spelt(number))
    return tree


def _turning(kind: type[_Turner], chance: float) -> Apply:
    def apply(tree: ast.Module, means: Means) -> ast.Module:
        turned: ast.Module = kind(means.choice, chance).visit(tree)
        return turned

    return apply


def _returned(tree: ast.Module, means: Means) -> ast.Module:
    fresh = means.fresh
    for block in blocks(tree):
        last = block[-1]
        if isinstance(last, ast.Return) and last.value is not None and means.choice.random() < 0.6:
            name = fresh()
            block[-1:] = [assignment(name, last.value), ast.Return(ast.Name(name, ast.Load()))]
    return tree


def _reordered(tree: ast.Module, means: Means) -> ast.Module:
    for block in blocks(tree):
        for number in range(len(block) - 1):
            if _independent(block[number], block[number + 1]) and means.choice.random() < 0.7:
                block[number : number + 2] = [block[number + 1], block[number]]
    return tree


def _independent(first: ast.stmt, second: ast.stmt) -> bool:
    """Return whether two assignments may change places: neither reads what the other writes."""
    if not all(
        isinstance(one, ast.Assign) and quiet_expression(one.value) for one in (first, second)
    ):
        return False
    written = stored([first]), stored([second])
    read = _loaded(first), _loaded(second)
    simple = all(
        isinstance(target, ast.Name)
        for one in (first, second)
        for target in one.targets  # type: ignore[attr-defined] # assignments, as seen above
    )
    return simple and not (written[0] & written[1] or written[0] & read[1] or written[1] & read[0])


def _loaded(node: ast.AST) -> set[str]:
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }


def _reimported(tree: ast.Module, means: Means) -> ast.Module:
    """Import what the module uses under names of its own, where nothing else has them."""
    fresh = means.fresh
    kept = {name for one in functions(tree) for name in stored(one.body) | parameters(one)}
    constants = (part.value for part in ast.walk(tree) if isinstance(part, ast.Constant))
    kept |= {value for value in constants if isinstance(value, str)}  # __all__, annotations
    names: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            continue
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            bound = alias.asname or alias.name
            # `import x as x` says that others may import it from here.
            if bound not in kept and bound.isidentifier() and alias.asname != alias.name:
                names[bound] = alias.asname = fresh("_")
    rename(tree, names)
    return tree


def _relocalled(tree: ast.Module, means: Means) -> ast.Module:
    fresh = means.fresh
    for function in functions(tree):
        rename(function, {name: fresh() for name in sorted(renamable(function))})
    return tree


def _renamed(tree: ast.Module, means: Means) -> ast.Module:
    """Rename private functions and values of the module, where nothing else has their name."""
    fresh = means.fresh
    private: dict[str, str] = {}
    for node in tree.body:
        names = stored([node]) if isinstance(node, ast.Assign) else set()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = {node.name}
        private |= {
            name: fresh("_")
            for name in sorted(names)
            if name.startswith("_") and not name.startswith("__")
        }
    for function in functions(tree):
        for name in stored(function.body) & private.keys():
            del private[name]
    rename(tree, private)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.name = private.get(node.name, node.name)
    return tree


REWRITES = (
    Rewrite("decoys at work", "How a result is computed.", living),
    Rewrite("repeated steps", "How a result is computed.", repeating),
    Rewrite("idle steps", "How a result is computed.", idling),
    Rewrite("decoys", "Private names, and which functions call one another.", _decoyed),
    Rewrite("error texts", "The wording of error messages.", _reworded),
    Rewrite("docstrings", "Documentation.", _undocumented),
    Rewrite("order of statements", "The order of independent steps.", _reordered),
    Rewrite("comparisons", "How a result is computed.", _turning(_Comparisons, 0.6)),
    Rewrite("conditions", "How a result is computed.", _turning(_Conditions, 0.6)),
    Rewrite("loops", "How a result is computed.", _turning(_Loops, 0.7)),
    Rewrite("slices", "How a result is computed.", _turning(_Slices, 0.6)),
    Rewrite("constants", "How a result is computed.", _respelt),
    Rewrite("results by name", "Private names.", _returned),
    Rewrite("local names", "Private names.", _relocalled),
    Rewrite("imported names", "Private names.", _reimported),
    Rewrite("private names", "Private names.", _renamed),
)
