"""A cell: one run of a suite on one variant, in a forked child that confines itself first."""

import base64
import json
import os
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Never

from . import confine, landlock, modules, wire
from .audit import Audit
from .look import look_at
from .recorder import Recorder, Selection
from .reporter import Reporter
from .session import load_profile, private_folders, run_pytest
from .zygote import STANDS, Birth, read_exactly

RESULTS, READY = 3, 4


def live(birth: Birth) -> Never:
    """Confine this process, run, and end: no clean-up that a student registered ever runs."""
    try:
        job: wire.Cell = json.loads(read_exactly(birth.payload))
        birth.payload = 0  # the text's size is as good as a name of the variant
        confine.keep_only(birth.results, birth.ready)
        _settle(birth, job)
        work = _work(birth, job)
        del job  # what a test can reach from here must not tell which variant it meets
        work()
        os._exit(0)
    finally:
        os._exit(1)


def _settle(birth: Birth, job: wire.Cell) -> None:
    """Do all that only a fault of the machine can stop, and say that it is done, or why not."""
    try:
        os.setsid()
        os.umask(0o077)
        confine.limit(birth.limits)
        if birth.jail is not None:
            os.chroot(birth.jail)
        rules = None
        if birth.readable is not None:
            rules = landlock.make_rules(birth.readable, birth.directory)
        if birth.uid is not None:
            confine.become(birth.uid, read_anything=birth.read_anything)
        confine.end_with_parent()
        os.chdir(birth.directory)
        if rules is not None:
            landlock.put_on(rules)
        if birth.seal is not None:
            birth.seal.put_on()
        if job["mode"] == "tests":
            _write_files(birth.directory, job["files"])
    except Exception as problem:
        os.write(READY, f"{type(problem).__name__}: {problem}".encode()[: wire.LINE_CAP])
        raise
    os.write(READY, STANDS)
    os.close(READY)


def _write_files(directory: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(text))


def _work(birth: Birth, job: wire.Cell) -> Callable[[], None]:
    """Return what is to be done, holding no more of ``job`` than that needs."""
    reporter = Reporter(RESULTS)
    if job["mode"] == "look":
        sources = {path: base64.b64decode(job["files"][path]) for path in job["targets"]}
        return partial(look_at, sources, reporter)
    modules.serve(job["modules"])
    random.seed(job["entropy"])
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(job["entropy"] % 2**32)
    selection = Selection(
        only=job["only"],
        skip=frozenset(job["skip"]),
        last=tuple(job["last"]),
        most_tests=job["most_tests"],
        most_examples=job["most_examples"],
        shrink=job["shrink"],
    )
    load_profile(shrink=selection.shrink)
    root = birth.directory / job["root"]
    recorder = Recorder(selection, reporter, root, job["targets"])
    return partial(_run, birth.directory, root, recorder, job["draw"])


def _run(directory: Path, root: Path, recorder: Recorder, draw: int) -> None:
    audit = Audit(recorder.reporter, root)
    with private_folders(directory):
        os.chdir(root)
        audit.start()
        code = run_pytest(root, recorder.targets, draw, [recorder])
        audit.stop()
        recorder.reporter.say("end", exit=code)
