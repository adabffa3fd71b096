"""Modules served from memory: no variant is ever a file that a test could find."""

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from .wire import Module

# Hypothesis harvests constants from modules outside of a `site-packages` and would then draw
# other inputs for each variant. The folder need not exist.
HOME = Path("/opt/course/lib/site-packages")


def origin(name: str, *, package: bool) -> str:
    """Return the one path that every variant of a module claims to come from."""
    path = HOME.joinpath(*name.split("."))
    return str(path / "__init__.py" if package else path.with_suffix(".py"))


class _Source(Loader):
    def __init__(self, module: Module) -> None:
        self._module = module

    def exec_module(self, module: ModuleType) -> None:
        """Run the source in ``module``; it is compiled here, at the last moment."""
        path = origin(module.__name__, package=self._module["package"])
        code = compile(self._module["source"], path, "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102 — importing is executing


class MemoryFinder(MetaPathFinder):
    """Finds the modules it was given, before any module on disk."""

    def __init__(self, modules: Mapping[str, Module]) -> None:
        self._modules = modules

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 — the interpreter's protocol
        target: ModuleType | None = None,  # noqa: ARG002 — the interpreter's protocol
    ) -> ModuleSpec | None:
        """Return the spec of a module held in memory, or ``None``."""
        module = self._modules.get(fullname)
        if module is None:
            return None
        location = origin(fullname, package=module["package"])
        spec = ModuleSpec(fullname, _Source(module), origin=location, is_package=module["package"])
        spec.has_location = True
        if module["package"]:
            spec.submodule_search_locations = []
        return spec


def serve(modules: Mapping[str, Module]) -> None:
    """Let ``import`` find ``modules``, ahead of everything installed."""
    sys.meta_path.insert(0, MemoryFinder(modules))
