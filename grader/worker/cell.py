"""A cell: one run of a suite on one variant, in a forked child that confines itself first."""

import base64
import json
import os
import random
import sys
from pathlib import Path

from . import confine, modules, wire
from .look import look_at
from .recorder import Recorder, Reporter
from .session import private_folders, run_pytest
from .zygote import Birth, read_exactly


def live(birth: Birth) -> None:
    """Read this cell's text, confine this process, run, and end without clean-up by students."""
    job: wire.Cell = json.loads(read_exactly(birth.payload))
    os.setsid()
    os.write(birth.acknowledge, b".")
    confine.keep_only(birth.results)
    confine.limit(birth.limits)
    if birth.uid is not None:
        confine.become(birth.uid, read_anything=birth.read_anything)
    os.chdir(birth.directory)
    confine.hide_processes_and_seal()
    reporter = Reporter(3)
    if job["mode"] == "look":
        look_at(job, reporter)
    else:
        _run(job, birth.directory, reporter)
    os._exit(0)


def _run(job: wire.Cell, directory: Path, reporter: Reporter) -> None:
    for name, text in job["files"].items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(text))
    root = directory / job["root"]
    modules.serve(job["modules"])
    random.seed(job["entropy"])
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed(job["entropy"] % 2**32)
    with private_folders(directory):
        os.chdir(root)
        code = run_pytest(root, job["targets"], job["draw"], [Recorder(job, reporter, root)])
        reporter.say("end", exit=code)
