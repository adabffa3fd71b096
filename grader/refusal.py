"""Which of a student's files are not run because of what their source imports or hides."""

import sys
from collections.abc import Iterable, Sequence

from .course import AssignmentSettings
from .messages import Message, message
from .outcome import Look

TOOLS = frozenset({"pytest", "hypothesis", "numpy"})


def refusal(settings: AssignmentSettings, files: Iterable[str], look: Look) -> Message | None:
    """Return why the file that was looked at is refused, if it is; ``files`` are all there are."""
    top = look.path.partition("/")[0].removesuffix(".py")
    if top in _reserved(settings):
        return message("refused-shadow", name=top)
    if look.problem is not None and look.problem[0] == "encoding":
        return message("refused-encoding", why=look.problem[1])
    own = own_modules(settings, files)
    for name, line in look.imports:
        if not allowed(name, settings.allowed_imports, own):
            listed = ", ".join(settings.allowed_imports)
            shown = name.replace(":", ".")
            return message("refused-import", name=shown, line=line, allowed=listed)
    return None


def own_modules(settings: AssignmentSettings, files: Iterable[str]) -> frozenset[str]:
    """Return the names under which a student's files can be imported.

    Neither the course nor the standard library can be claimed: what is installed is found first,
    so that a file of such a name would only open the door to the module that it is called after.
    """
    names = {part.removesuffix(".py") for path in files for part in path.split("/")}
    return frozenset(names - _reserved(settings) - sys.stdlib_module_names)


def allowed(name: str, permitted: Sequence[str], own: Iterable[str]) -> bool:
    """Return whether an import is permitted; ``a:b`` stands for ``from a import b``."""
    module, _, attribute = name.partition(":")
    if "*" in permitted or module == "__future__" or module.partition(".")[0] in own:
        return True
    candidates = (module, f"{module}.{attribute}") if attribute else (module,)
    return any(
        candidate == one or candidate.startswith(f"{one}.")
        for candidate in candidates
        for one in permitted
    )


def _reserved(settings: AssignmentSettings) -> frozenset[str]:
    """Return the top-level names that a submission must leave to the course and its tools."""
    named = {name.partition(".")[0] for name in (settings.module, *settings.allowed_imports)}
    return TOOLS | (named - {"*"})
