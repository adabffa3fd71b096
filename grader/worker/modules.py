"""Modules served from memory: no variant is ever a file that a test could find."""

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType

from .wire import Module

# Hypothesis harvests constants from modules outside of a `site-packages` and would then draw
# other inputs for each variant. The folder need not exist.
HOME = Path("/opt/course/lib/site-packages")


def origin(name: str, *, package: bool) -> str:
    """Return the one path that every variant of a module claims to come from."""
    path = HOME.joinpath(*name.split("."))
    return str(path / "__init__.py" if package else path.with_suffix(".py"))


class _Code(Loader):
    """Runs a compiled module; its text is not kept, since a test could read it here."""

    def __init__(self, name: str, module: Module) -> None:
        self.is_package = module["package"]
        self.path = origin(name, package=self.is_package)
        self._code: CodeType | None = None
        self._problem: Exception | None = None
        try:
            self._code = compile(module["source"], self.path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
            self._problem = problem.with_traceback(None)

    def exec_module(self, module: ModuleType) -> None:
        """Run the code in ``module``, or raise what compiling it raised."""
        if self._code is None:
            raise self._problem or ImportError(self.path)
        exec(self._code, module.__dict__)  # noqa: S102 — importing is executing


class MemoryFinder(MetaPathFinder):
    """Finds the modules it was given, before any module on disk."""

    def __init__(self, modules: Mapping[str, Module]) -> None:
        self._loaders = {name: _Code(name, module) for name, module in modules.items()}

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 — the interpreter's protocol
        target: ModuleType | None = None,  # noqa: ARG002 — the interpreter's protocol
    ) -> ModuleSpec | None:
        """Return the spec of a module held in memory, or ``None``."""
        loader = self._loaders.get(fullname)
        if loader is None:
            return None
        spec = ModuleSpec(fullname, loader, origin=loader.path, is_package=loader.is_package)
        spec.has_location = True
        return spec


def serve(modules: Mapping[str, Module]) -> None:
    """Compile ``modules`` and let ``import`` find them, ahead of everything installed."""
    sys.meta_path.insert(0, MemoryFinder(modules))
