"""The ways in which a request can't be met, each with the message that a person reads."""

from typing import Literal

from .messages import Message


class Problem(Exception):
    """Base of everything grader raises on purpose."""

    def __init__(self, message: Message) -> None:
        super().__init__(message.text)
        self.message = message


class Unusable(Problem):
    """The request or its input makes no sense: unknown assignment, malformed course, no folder."""


class PrerequisiteMissing(Problem):
    """A module that the assignment builds on is not built."""


class Void(Problem):
    """No verdict is possible, through no fault of the student."""

    def __init__(self, message: Message, fault: Literal["harness", "machine"]) -> None:
        super().__init__(message)
        self.fault: Literal["harness", "machine"] = fault
