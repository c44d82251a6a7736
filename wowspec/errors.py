"""Every error wowspec raises, in three families.

* `SpecError`: the author of a spec or of a domain erred. What happened, why it matters, what to write instead.
* `SpecFailure`: the system under test broke its spec; an `AssertionError`, as test runners expect.
* `WowError` and its like: what the modelled runtime itself raises, each with an error code (CMD-330).

`ModelError` means that wowspec itself is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from types import CodeType
from typing import Any, Final

from .texts import is_blank


class ErrorCode:
    """The runtime's error codes (CMD-330)."""

    OK: Final = "Ok"
    NOT_FOUND: Final = "NotFound"
    BAD_REQUEST: Final = "BadRequest"
    ILLEGAL_ARGUMENT: Final = "IllegalArgument"
    ILLEGAL_STATE: Final = "IllegalState"
    REQUEST_TIMEOUT: Final = "RequestTimeout"
    TOO_MANY_REQUESTS: Final = "TooManyRequests"
    DUPLICATE_REQUEST_ID: Final = "DuplicateRequestId"
    COMMAND_VALIDATION: Final = "CommandValidation"
    REWRITE_NO_COMMAND: Final = "RewriteNoCommand"
    EVENT_VERSION_CONFLICT: Final = "EventVersionConflict"
    DUPLICATE_AGGREGATE_ID: Final = "DuplicateAggregateId"
    COMMAND_EXPECT_VERSION_CONFLICT: Final = "CommandExpectVersionConflict"
    SOURCING_VERSION_CONFLICT: Final = "SourcingVersionConflict"
    ILLEGAL_ACCESS_DELETED_AGGREGATE: Final = "IllegalAccessDeletedAggregate"
    ILLEGAL_ACCESS_OWNER_AGGREGATE: Final = "IllegalAccessOwnerAggregate"
    ILLEGAL_ACCESS_SPACE_AGGREGATE: Final = "IllegalAccessSpaceAggregate"
    INTERNAL_SERVER_ERROR: Final = "InternalServerError"
    NOT_INITIALIZED_GLOBAL_ID_GENERATOR: Final = "NotInitializedGlobalIdGenerator"


class Recoverability(StrEnum):
    """How the runtime classes a failure: only RECOVERABLE ones are retried (CMD-205)."""

    RECOVERABLE = "RECOVERABLE"
    UNRECOVERABLE = "UNRECOVERABLE"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class BindingError:
    """One field that failed validation (CMD-324)."""

    name: str
    msg: str


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error as data: code, message and the fields that were refused (CMD-321)."""

    error_code: str
    error_msg: str = ""
    binding_errors: tuple[BindingError, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether the code says success."""
        return self.error_code == ErrorCode.OK


SUCCESS: Final = ErrorInfo(ErrorCode.OK)


#: What a terminal would obey instead of showing it: control characters, directions of writing, halves of characters.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """A text in which what comes from somebody's data can neither colour a terminal nor move about on it."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def printable_json(value: Any) -> Any:
    """Plain JSON with all texts in it printable: halves of characters can go neither into files nor to processes."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {key: printable_json(item) for key, item in value.items()}
    return [printable_json(item) for item in value] if isinstance(value, list) else value


class SpecError(Exception):
    """The author of a spec or domain erred.

    Args:
        what: what happened, naming the place.
        why: why it matters.
        instead: what to write instead.
    """

    def __init__(self, what: str, *, why: str = "", instead: str = "") -> None:
        self.what = what
        self.why = why
        self.instead = instead
        parts = [what]
        if why:
            parts.append(f"  why: {why}")
        if instead:
            parts.append(f"  instead: {instead}")
        super().__init__(printable("\n".join(parts)))


class DefinitionError(SpecError):
    """A domain class is not a legal definition; raised when it is defined, or at its first use."""


class NotSerializableError(SpecError):
    """An event, a command or a state cannot be written as JSON, which production does to store or send it."""


class SpecFailure(AssertionError):
    """The system under test did not do what its spec says.

    Attributes:
        expected: what was expected, where the failure is a comparison: a text for a diff viewer, alike to `actual` in
            all but what is not as expected; else None.
        actual: what there is.
        lines: where soft expectations stand that it tells of: code, and offset of the call in it.
    """

    expected: str | None = None
    actual: str | None = None
    lines: tuple[tuple[CodeType, int], ...] = ()

    def __init__(self, *args: Any) -> None:
        super().__init__(*(printable(each) if isinstance(each, str) else each for each in args))


class PlanNotReached(SpecFailure):
    """A plan of faults that does not strike as it says: the spec has changed since it was made."""


class ModelError(Exception):
    """wowspec itself is wrong: please report the spec that shows it."""


class IllegalStateError(RuntimeError):
    """The operation is not allowed in the present state (error code `IllegalState`)."""


class EmissionError(IllegalStateError):
    """A buffer refused a signal (CMD-415)."""


class IllegalArgumentError(ValueError):
    """The runtime refuses an argument (error code `IllegalArgument`)."""


class UnsupportedOperationError(Exception):
    """The object does not allow the operation, such as writing to a read-only header (code `BadRequest`)."""


class DecodeError(Exception):
    """A JSON text does not read as what it should be (code `BadRequest`)."""


class DeadlineExceeded(TimeoutError):
    """The client's own deadline passed: the outcome of its command is unknown (CMD-121)."""


class RetriesExhaustedError(IllegalStateError):
    """Every retry failed; the cause is the last failure (CMD-200)."""


class WowError(Exception):
    """Base of the runtime's own errors: an exception that is also error info (section O.2 of the contract).

    A blank message is replaced by the first binding error's (CMD-327).
    """

    error_code: str = ErrorCode.BAD_REQUEST

    def __init__(
        self,
        message: str = "",
        *,
        error_code: str | None = None,
        binding_errors: Iterable[BindingError] = (),
    ) -> None:
        self.binding_errors: tuple[BindingError, ...] = tuple(binding_errors)
        if self.binding_errors and is_blank(message):
            message = self.binding_errors[0].msg
        if error_code is not None:
            self.error_code = error_code
        self.error_msg = message
        super().__init__(message)

    @property
    def error_message(self) -> str:
        """The message, under the name that domain errors use."""
        return self.error_msg


class DomainError(WowError):
    """A business error with a code of its own: `DomainError("CartFull", "a cart holds at most 100 items")`."""

    def __init__(self, error_code: str, message: str = "", *, binding_errors: Iterable[BindingError] = ()) -> None:
        super().__init__(message, error_code=error_code, binding_errors=binding_errors)


class DomainEventError(WowError):
    """A stored event is itself a failed error info, so its command counts as failed (CMD-319, CMD-320)."""

    def __init__(self, event: Any, error_code: str, message: str) -> None:
        super().__init__(message, error_code=error_code)
        self.domain_event = event


class NotFoundError(WowError):
    """The aggregate (or another resource) does not exist."""

    error_code = ErrorCode.NOT_FOUND


class DuplicateRequestIdError(WowError):
    """The request id was used before (CMD-083, EVT-008)."""

    error_code = ErrorCode.DUPLICATE_REQUEST_ID

    def __init__(self, aggregate_id: Any, request_id: str, message: str = "") -> None:
        super().__init__(message or f"request id {request_id!r} was already used for {aggregate_id}")
        self.aggregate_id = aggregate_id
        self.request_id = request_id


class CommandValidationError(WowError):
    """Field validation refused the command (CMD-085)."""

    error_code = ErrorCode.COMMAND_VALIDATION

    def __init__(self, command: Any, binding_errors: Iterable[BindingError], message: str = "") -> None:
        super().__init__(message, binding_errors=binding_errors)
        self.command = command


class RewriteNoCommandError(WowError):
    """A command rewriter yielded nothing (CMD-060)."""

    error_code = ErrorCode.REWRITE_NO_COMMAND

    def __init__(self, builder: Any, rewriter: Any) -> None:
        super().__init__(f"{rewriter!r} yielded no command for {builder!r}")
        self.builder = builder
        self.rewriter = rewriter


class CommandResultError(WowError):
    """A waiting call ended with a failed result (CMD-113, CMD-328).

    Attributes:
        result: the command result.
        original: the error behind it, where this process has it; it is the `__cause__` too.
        wire_cause: the cause that the real runtime's exception has. A failed *signal* carries no exception there, only
            its code and text, so this is None where `original` comes from a signal (CMD-113).
    """

    def __init__(
        self, result: Any, *, original: BaseException | None = None, wire_cause: BaseException | None = None
    ) -> None:
        super().__init__(result.error_msg, error_code=result.error_code, binding_errors=result.binding_errors)
        self.result = result
        self.original = original
        self.wire_cause = wire_cause
        self.__cause__ = original


class EventVersionConflictError(WowError):
    """Another stream already has this version; recoverable (EVT-007)."""

    error_code = ErrorCode.EVENT_VERSION_CONFLICT

    def __init__(self, stream: Any, message: str = "") -> None:
        super().__init__(message or f"version {stream.version} of {stream.aggregate_id} is already stored")
        self.event_stream = stream


class DuplicateAggregateIdError(WowError):
    """A first version was appended to an aggregate that has history (EVT-006)."""

    error_code = ErrorCode.DUPLICATE_AGGREGATE_ID

    def __init__(self, stream: Any, message: str = "") -> None:
        super().__init__(message or f"{stream.aggregate_id} already exists")
        self.event_stream = stream


class CommandExpectVersionConflictError(WowError):
    """The command expected another version of its aggregate (CMD-209)."""

    error_code = ErrorCode.COMMAND_EXPECT_VERSION_CONFLICT

    def __init__(self, command: Any, expect_version: int, actual_version: int) -> None:
        super().__init__(
            f"{command.name} expects version {expect_version} of {command.aggregate_id}, which is at {actual_version}"
        )
        self.command = command
        self.expect_version = expect_version
        self.actual_version = actual_version


class SourcingVersionConflictError(WowError):
    """A stream does not follow the version that the state has (STA-007)."""

    error_code = ErrorCode.SOURCING_VERSION_CONFLICT

    def __init__(self, stream: Any, expect_version: int) -> None:
        super().__init__(
            f"{stream.aggregate_id} expects version {expect_version} next, but the stream has {stream.version}"
        )
        self.event_stream = stream
        self.expect_version = expect_version


class IllegalAccessAggregateError(WowError):
    """Base of the three refusals of access to an aggregate."""

    def __init__(self, aggregate_id: Any, message: str = "") -> None:
        super().__init__(message or f"illegal access to {aggregate_id}")
        self.aggregate_id = aggregate_id


class IllegalAccessDeletedAggregateError(IllegalAccessAggregateError):
    """The aggregate is deleted (CMD-217)."""

    error_code = ErrorCode.ILLEGAL_ACCESS_DELETED_AGGREGATE


class IllegalAccessOwnerAggregateError(IllegalAccessAggregateError):
    """The command names another owner than the aggregate's (CMD-214)."""

    error_code = ErrorCode.ILLEGAL_ACCESS_OWNER_AGGREGATE


class IllegalAccessSpaceAggregateError(IllegalAccessAggregateError):
    """The command names another space than the aggregate's (CMD-214)."""

    error_code = ErrorCode.ILLEGAL_ACCESS_SPACE_AGGREGATE


class NotInitializedGlobalIdGeneratorError(WowError):
    """No generator of global ids is registered (CMD-035)."""

    error_code = ErrorCode.NOT_INITIALIZED_GLOBAL_ID_GENERATOR


class InjectedFault(Exception):
    """What an armed `fails()` raises: an error of no known kind, not recoverable (code `BadRequest`)."""


class InjectedTimeout(TimeoutError):
    """What an armed `times_out()` or `loses_reply()` raises: a recoverable time-out."""


class Sleepless(BaseException):
    """More was done than any run should need: something goes on and on, and will never stop.

    Its argument is the task that slept once too often, where it was one.
    """


class ProcessCrash(BaseException):
    """A process died below plain code, which cannot be stopped otherwise; no `Exception`, so that nobody handles it."""
