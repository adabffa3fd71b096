"""The typed facts of a run, which everything else passes around; no judgement is made here."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from .worker import wire
from .worker.fingerprint import MOST_HASHES

ShortText = Annotated[str, Field(max_length=500)]
TestId = Annotated[str, Field(max_length=500)]
PropertyName = Annotated[str, Field(max_length=200)]
MOST_TOUCHES = 20  # of one run that are kept


class Fact(BaseModel):
    """Base of immutable facts; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Failure(Fact):
    """An exception that left a test, or a file on its import.

    ``kind`` is ``ordinary`` where the exception can mean that the test saw a behaviour.
    """

    kind: Literal["ordinary", "hypothesis", "memory", "exit", "limit"]
    exception: Annotated[str, Field(max_length=100)]
    message: ShortText = ""
    file: ShortText | None = None
    line: int | None = None
    witness: ShortText | None = None


class Phase(Fact):
    """How one phase of a test, or one of its sub-tests, ended."""

    event: Literal["phase"] = "phase"
    id: TestId
    when: Literal["setup", "call", "teardown"]
    outcome: Literal["passed", "failed", "skipped"]
    expected_to_fail: bool
    failure: Failure | None = None


class FileStarted(Fact):
    """A test file is being read."""

    event: Literal["file"]
    path: ShortText


class Unreadable(Fact):
    """A test file could not be imported."""

    event: Literal["unreadable"] = "unreadable"
    path: ShortText
    failure: Failure


class TestFound(Fact):
    """A test was collected."""

    __test__ = False
    event: Literal["test"]
    id: TestId
    property: PropertyName | None = None  # what it says that it checks


class TooMany(Fact):
    """More tests were collected than the assignment allows; the rest were left out."""

    event: Literal["too_many"]
    count: int


class Collected(Fact):
    """Collection is over, and tests begin."""

    event: Literal["collected"]


class TestStarted(Fact):
    """A test begins."""

    __test__ = False
    event: Literal["start"]
    id: TestId


class Look(Fact):
    """What a look at a file's source found."""

    event: Literal["look"] = "look"
    path: ShortText
    problem: tuple[Literal["encoding", "syntax"], ShortText, int | None] | None
    imports: tuple[tuple[ShortText, int], ...]
    near_misses: tuple[tuple[ShortText, int], ...]
    remarks: tuple[tuple[ShortText, ShortText, int], ...] = ()
    readings: tuple[tuple[ShortText, int], ...] = ()


class Fingerprint(Fact):
    """What a function's code is like: hashes that it shares with functions of the same shape."""

    event: Literal["fingerprint"] = "fingerprint"
    path: ShortText
    name: ShortText
    line: int
    hashes: Annotated[tuple[int, ...], Field(max_length=MOST_HASHES)]


class Touch(Fact):
    """A student's file touched the form of code while it ran."""

    event: Literal["touch"] = "touch"
    what: ShortText
    path: ShortText
    line: int


class Finished(Fact):
    """The session ended by itself."""

    event: Literal["end"]
    exit: int


class Oversized(Fact):
    """A fact was too long to be told."""

    event: Literal["oversized"]
    of: ShortText


Event = Annotated[
    Phase
    | FileStarted
    | Unreadable
    | TestFound
    | TooMany
    | Collected
    | TestStarted
    | Look
    | Fingerprint
    | Touch
    | Finished
    | Oversized,
    Field(discriminator="event"),
]
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def read_event(line: bytes) -> Event | None:
    """Return what a cell said in one line, or ``None`` where it makes no sense."""
    if len(line) > wire.LINE_CAP:
        return None
    try:
        return _EVENT.validate_json(line)
    except ValidationError:
        return None


class End(StrEnum):
    """Why a cell ended."""

    COMPLETE = "complete"
    STOPPED = "stopped"  # the supervisor had seen enough
    TIMEOUT = "timeout"
    CRASH = "crash"  # the interpreter ended before the session did
    GARBLED = "garbled"  # it said what no worker says, or too much
    FAULT = "fault"  # the machine or the harness failed; the cell says nothing


class TestRun(Fact):
    """What one test did in one cell."""

    __test__ = False
    phases: tuple[Phase, ...] = ()
    seconds: float = 0.0

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Failures in setup and call, sub-tests included."""
        return tuple(
            phase.failure or Failure(kind="hypothesis", exception="unknown")
            for phase in self.phases
            if phase.outcome == "failed" and phase.when != "teardown"
        )

    @property
    def failed(self) -> bool:
        """Whether any phase failed, teardown included."""
        return any(phase.outcome == "failed" for phase in self.phases)

    @property
    def skipped(self) -> bool:
        """Whether it was skipped in whole or is expected to fail: it tells nothing."""
        if any(phase.expected_to_fail for phase in self.phases):
            return True
        own = [phase for phase in self.phases if phase.when != "teardown"]
        return bool(own) and own[-1].outcome == "skipped"  # the last: sub-tests come before

    @property
    def finished(self) -> bool:
        """Whether it ran to its end."""
        return any(phase.when == "teardown" for phase in self.phases)


class Outcome(Fact):
    """The facts of one cell."""

    end: End
    tests: tuple[TestId, ...] = ()
    properties: Mapping[TestId, PropertyName] = Field(default_factory=dict)  # of tests that say
    runs: Mapping[TestId, TestRun] = Field(default_factory=dict)
    unreadable: tuple[Unreadable, ...] = ()
    looks: tuple[Look, ...] = ()
    fingerprints: tuple[Fingerprint, ...] = ()
    touches: tuple[Touch, ...] = ()
    collected: bool = False
    at: str | None = None  # the test, or the file, that was running when it ended
    left_out: int = 0  # tests over the assignment's limit
    ran_out: bool = False  # the limit that it ran into was that of all tests together
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_kilobytes: int = 0
    reason: str = ""

    def run(self, test: str) -> TestRun | None:
        """Return what ``test`` did here, if it began."""
        return self.runs.get(test)


class Watch:
    """Collects a cell's events, and knows what is running."""

    def __init__(self) -> None:
        self.tests: list[str] = []
        self.properties: dict[str, str] = {}
        self.looks: list[Look] = []
        self.fingerprints: list[Fingerprint] = []
        self.touches: list[Touch] = []
        self.unreadable: list[Unreadable] = []
        self.collected = False
        self.at: str | None = None
        self.since = 0.0  # when that began
        self.finished: Finished | None = None
        self.garbled = False
        self.left_out = 0
        self._phases: dict[str, list[Phase]] = {}
        self._seconds: dict[str, float] = {}

    def feed(self, lines: Iterable[bytes], now: float) -> None:
        """Take what a cell said at ``now``, in seconds of the supervisor's clock.

        Nothing is believed from the first line on that makes no sense.
        """
        for line in lines:
            event = read_event(line)
            if event is None or isinstance(event, Oversized) or self.finished:
                self.garbled = True
            if self.garbled or event is None:
                return
            if isinstance(event, FileStarted | Collected | TestStarted | Phase):
                self._progress(event, now)
            else:
                self._note(event)

    def _progress(self, event: FileStarted | Collected | TestStarted | Phase, now: float) -> None:
        """Take an event that says what is running."""
        before = self.at
        match event:
            case FileStarted():
                self.at = event.path
            case Collected():
                self.collected, self.at = True, None
            case TestStarted():
                self.at = event.id
                self._phases.setdefault(event.id, [])
            case Phase():
                phases = self._phases.setdefault(event.id, [])
                if event not in phases[-1:]:  # a sub-test that ends as the one before tells nothing
                    phases.append(event)
                if event.when == "teardown":
                    self._seconds[event.id] = now - self.since
                    self.at = None
        if self.at != before:
            self.since = now

    def _note(self, event: Event) -> None:
        """Take an event that says what there is."""
        match event:
            case Look():
                self.looks.append(event)
            case Fingerprint():
                self.fingerprints.append(event)
            case Touch() if len(self.touches) < MOST_TOUCHES:
                self.touches.append(event)
            case Unreadable():
                self.unreadable.append(event)
            case TestFound():
                self.tests.append(event.id)
                if event.property is not None:
                    self.properties[event.id] = event.property
            case TooMany():
                self.left_out = max(0, event.count)
            case Finished():
                self.finished = event

    def failing(self) -> frozenset[str]:
        """Return the tests that have failed ordinarily so far, in setup or call."""
        return frozenset(
            test
            for test, phases in self._phases.items()
            if any(f.kind == "ordinary" for f in TestRun(phases=tuple(phases)).failures)
        )

    def ended(self) -> frozenset[str]:
        """Return the tests that have run to their end."""
        return frozenset(self._seconds)

    def outcome(self, end: End, **facts: object) -> Outcome:
        """Return the facts so far as the outcome of a cell that ended as ``end``."""
        return Outcome.model_validate(
            {
                "end": end,
                "tests": tuple(self.tests),
                "properties": self.properties,
                "runs": {
                    test: TestRun(phases=tuple(phases), seconds=self._seconds.get(test, 0.0))
                    for test, phases in self._phases.items()
                },
                "unreadable": tuple(self.unreadable),
                "looks": tuple(self.looks),
                "fingerprints": tuple(self.fingerprints),
                "touches": tuple(self.touches),
                "collected": self.collected,
                "at": self.at,
                "left_out": self.left_out,
                **facts,
            }
        )
