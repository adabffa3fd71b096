"""Toy suites in real workers, for whoever tests what a worker does with a suite."""

import base64
from collections.abc import Callable, Iterator, Mapping

import pytest

from grader.course import Limits
from grader.outcome import Outcome, Watch
from grader.sandbox import Sandbox, environment, process
from grader.sandbox.process import ProcessSandbox
from grader.sandbox.session import Clock, Session, WorkerLostError
from grader.worker import wire

Files = str | Mapping[str, str | bytes]

DOUBLE = "def double(n):\n    return 2 * n\n"
PATIENT = Clock(per_test=60, in_all=120)


def toy_job(files: Files, variant: str = DOUBLE, **changes: object) -> wire.Cell:
    """Return the job of a cell: a suite, or one test file's text, on a module ``toy.mod``."""
    suite = {"test_toy.py": files} if isinstance(files, str) else files
    looking = changes.get("mode") == "look"
    job = {
        "mode": "tests",
        "files": {
            path if looking else f"tests/{path}": base64.b64encode(
                text.encode() if isinstance(text, str) else text
            ).decode()
            for path, text in suite.items()
        },
        "root": "tests",
        "targets": [
            path for path in suite if looking or path.rpartition("/")[2].startswith("test_")
        ],
        "modules": {"toy.mod": wire.Module(source=variant, package=False)},
        "draw": 1,
        "entropy": 5,
        "only": "",
        "shrink": False,
        "last": [],
        "skip": [],
        "most_tests": 300,
        "most_examples": 1000,
    }
    return wire.Cell(**{**job, **changes})


def never(watch: Watch) -> bool:
    """Say that nothing is enough."""
    del watch
    return False


class Runner:
    """Runs toy suites in one worker, and starts another once a test has lost it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._session: Session | None = None
        self.sealed: bool | None = None

    def __call__(
        self,
        files: Files,
        variant: str = DOUBLE,
        clock: Clock = PATIENT,
        enough: Callable[[Watch], bool] = never,
        **changes: object,
    ) -> Outcome:
        """Run a suite to its end."""
        if self._session is None:
            toy = {"toy": wire.Module(source="", package=True)}
            self._session = Session(self._sandbox, toy, ["numpy", "toy"])
        self.sealed = self._session.sealed
        try:
            return self._session.run(toy_job(files, variant, **changes), clock, enough)
        except WorkerLostError:
            self.close()
            raise

    def close(self) -> None:
        """End the worker."""
        if self._session is not None:
            self._session.close()
            self._session = None


@pytest.fixture(scope="session")
def make_job() -> Callable[..., wire.Cell]:
    """Return the function that makes a toy suite's job."""
    return toy_job


@pytest.fixture(scope="session")
def process_run() -> Iterator[Runner]:
    """Run toy suites in a worker that is a plain process."""
    runner = Runner(ProcessSandbox(Limits()))
    yield runner
    runner.close()


@pytest.fixture(scope="session")
def unsealed_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """Run toy suites in a plain process that finds neither libseccomp nor Landlock."""
    folder = tmp_path_factory.mktemp("unsealed")
    (folder / "pyseccomp.py").write_text('raise RuntimeError("Unable to find libseccomp")\n')
    runner = Runner(ProcessSandbox(Limits()))
    with pytest.MonkeyPatch.context() as patch:
        found = {"PYTHONPATH": str(folder)}
        patch.setattr(process, "environment", lambda tables: environment(tables) | found)
        patch.setattr(process, "readable", lambda packages: None)
        runner("def test_it(): pass\n")
    yield runner
    runner.close()


@pytest.fixture(scope="session")
def docker_run(worker_image: str) -> Iterator[Runner]:
    """Run toy suites in a worker that is a container of ``worker_image``."""
    from grader.sandbox.docker import DockerSandbox

    del worker_image
    runner = Runner(DockerSandbox(Limits()))
    yield runner
    runner.close()


@pytest.fixture(
    scope="session", params=["process", pytest.param("docker", marks=pytest.mark.docker)]
)
def looping_run(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """Run toy suites where the course allows an event loop, on each back-end in turn."""
    allowed = Limits(event_loop=True)
    if request.param == "docker":
        from grader.sandbox.docker import DockerSandbox

        request.getfixturevalue("worker_image")
        runner = Runner(DockerSandbox(allowed))
    else:
        runner = Runner(ProcessSandbox(allowed))
    yield runner
    runner.close()


@pytest.fixture(
    scope="session", params=["process", pytest.param("docker", marks=pytest.mark.docker)]
)
def run(request: pytest.FixtureRequest) -> Runner:
    """Run toy suites in a worker, on each back-end in turn."""
    runner: Runner = request.getfixturevalue(f"{request.param}_run")
    return runner
