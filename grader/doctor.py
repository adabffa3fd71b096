"""What works on this machine, and how to mend the rest."""

import importlib.metadata
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass

from .course import Limits, load_course
from .image import pins
from .problems import Problem, Void
from .sandbox import Sandbox
from .sandbox.session import Session

LEAST_FREE_BYTES = 1 << 30


@dataclass(frozen=True)
class Finding:
    """One thing that was examined."""

    subject: str
    good: bool
    text: str
    is_sandbox: bool = False


def examine() -> list[Finding]:
    """Examine everything that grading needs, each by using it."""
    return [_python(), *_pins(), _course(), _disk(), _docker(), _process(), _torch()]


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info[:2] == (3, 11)
    advice = "" if good else "; the image has 3.11, so a verdict may differ in the process sandbox"
    return Finding("python", good, version + advice)


def _pins() -> list[Finding]:
    findings = []
    for pin in pins():
        name, _, wanted = pin.partition("==")
        found = _version(name)
        good = found == wanted
        text = found or "not installed"
        if not good:
            text += f", but {wanted} decides grades: pip install {pin}"
        findings.append(Finding(name, good, text))
    return findings


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _course() -> Finding:
    try:
        course = load_course()
        graded = [name for name, one in course.assignments.items() if one.mutants]
    except Problem as problem:
        return Finding("course", good=False, text=str(problem))
    return Finding("course", good=True, text=f"{course.root}, graded: {', '.join(graded)}")


def _disk() -> Finding:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    good = free >= LEAST_FREE_BYTES
    advice = "" if good else f": make room for {LEAST_FREE_BYTES >> 20} MB, or set TMPDIR"
    return Finding("disk", good, f"{free >> 20} MB free in {folder}{advice}")


def _docker() -> Finding:
    try:
        from .sandbox.docker import DockerSandbox

        return _works("sandbox docker", DockerSandbox(Limits()))
    except Void as problem:
        return Finding("sandbox docker", good=False, text=str(problem), is_sandbox=True)


def _process() -> Finding:
    from .sandbox.process import ProcessSandbox

    finding = _works("sandbox process", ProcessSandbox(Limits()))
    if not finding.good:
        return finding
    owner = "each run has its own user" if os.geteuid() == 0 else "runs share your user"
    text = f"{finding.text}; {owner}; it is no wall against hostile tests"
    return Finding(finding.subject, good=True, text=text, is_sandbox=True)


def _works(subject: str, sandbox: Sandbox) -> Finding:
    try:
        with Session(sandbox, {}, []) as session:
            found = ", ".join(f"{name} {version}" for name, version in session.versions.items())
            seal = "sealed" if session.sealed else "not sealed: libseccomp isn't installed here"
            sight = "its own files" if session.sees_little else "all files: no Landlock here"
    except Void as problem:
        return Finding(subject, good=False, text=str(problem), is_sandbox=True)
    return Finding(subject, good=True, text=f"{found}; {seal}; a run sees {sight}", is_sandbox=True)


def _torch() -> Finding:
    missing = "not installed; only `grade fixtures` uses it: pip install 'grader[fixtures]'"
    return Finding("torch", good=True, text=_version("torch") or missing)
