"""How an exception becomes error info, and whether the runtime may retry it.

One ordered table each; an `ErrorPolicy` adds a world's own registrations in front of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from .errors import (
    BindingError,
    CommandResultError,
    ErrorCode,
    ErrorInfo,
    EventVersionConflictError,
    IllegalStateError,
    Recoverability,
)

E = TypeVar("E", bound=type[BaseException])

#: Exception class → error code, first match wins; anything else is `BadRequest` (CMD-325).
CODE_TABLE: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (IllegalStateError, ErrorCode.ILLEGAL_STATE),
    (ValueError, ErrorCode.ILLEGAL_ARGUMENT),
    (TimeoutError, ErrorCode.REQUEST_TIMEOUT),
    (FileNotFoundError, ErrorCode.NOT_FOUND),
)

#: Exception class → recoverability, first match wins; anything else is UNKNOWN (CMD-205, CMD-206).
RECOVERABLE_TABLE: Final[tuple[tuple[type[BaseException], Recoverability], ...]] = (
    (EventVersionConflictError, Recoverability.RECOVERABLE),
    (TimeoutError, Recoverability.RECOVERABLE),
)

_MARK: Final = "__wowspec_recoverability__"

Converter = Callable[[Any], ErrorInfo]


def recoverable(error_class: E) -> E:
    """Class decorator: the runtime retries errors of this class."""
    setattr(error_class, _MARK, Recoverability.RECOVERABLE)
    return error_class


def as_error_info(value: Any) -> ErrorInfo | None:
    """The error info that an object carries itself: `error_code` with `error_message` or `error_msg` (CMD-321)."""
    cls = type(value)
    silent = _SILENT.get(cls)
    if silent is None:
        silent = _SILENT[cls] = _is_silent(cls)
    if silent and "error_code" not in getattr(value, "__dict__", ()):
        return None
    code = getattr(value, "error_code", None)
    if not isinstance(code, str):
        return None
    message = getattr(value, "error_message", None)
    if message is None:
        message = getattr(value, "error_msg", None)
    if message is None:
        return None
    bindings = getattr(value, "binding_errors", ()) or ()
    return ErrorInfo(code, str(message), tuple(b for b in bindings if isinstance(b, BindingError)))


#: Every event is asked, and a pydantic model takes long to say that it has no such attribute.
_SILENT: Final[dict[type, bool]] = {}


def _is_silent(cls: type) -> bool:
    """Whether an object of this class has an error code only if its own dictionary holds one."""
    if hasattr(cls, "error_code") or cls.__getattribute__ is not object.__getattribute__:  # type: ignore[comparison-overlap]
        return False
    asked = getattr(cls, "__getattr__", None)
    if asked is None:
        return True
    # A pydantic model looks into its extra fields, if it takes any, and has nothing else to say.
    takes_extra = getattr(cls, "model_config", {}).get("extra") == "allow"
    return asked.__module__ == "pydantic.main" and not takes_extra


def _by_class(table: dict[type, Any], error_class: type) -> Any:
    for base in error_class.__mro__:
        if base in table:
            return table[base]
    return None


class ErrorPolicy:
    """Conversion and recoverability of errors, with registrations of its own (CMD-205, CMD-326)."""

    __slots__ = ("_converters", "_recoverability")

    def __init__(self) -> None:
        self._converters: dict[type, Converter] = {}
        self._recoverability: dict[type, Recoverability] = {}

    def copy(self) -> ErrorPolicy:
        """An independent policy with the same registrations."""
        other = ErrorPolicy()
        other._converters.update(self._converters)
        other._recoverability.update(self._recoverability)
        return other

    def register_converter(self, error_class: type[BaseException], converter: Converter) -> Converter | None:
        """Convert errors of this class (and its subclasses) so; returns the converter that was there before."""
        previous = self._converters.get(error_class)
        self._converters[error_class] = converter
        return previous

    def unregister_converter(self, error_class: type[BaseException]) -> Converter | None:
        """Forget a converter; returns it."""
        return self._converters.pop(error_class, None)

    def register_recoverability(self, error_class: type[BaseException], value: Recoverability) -> None:
        """Class errors of this class (and its subclasses) so, before any built-in rule."""
        self._recoverability[error_class] = value

    def unregister_recoverability(self, error_class: type[BaseException]) -> None:
        """Back to the built-in rule."""
        self._recoverability.pop(error_class, None)

    def info(self, error: BaseException) -> ErrorInfo:
        """The error info of an exception."""
        if self._converters:
            converter = _by_class(self._converters, type(error))
            if converter is not None:
                return converter(error)  # type: ignore[no-any-return]
        if isinstance(error, CommandResultError):
            own = as_error_info(error.result)
            if own is not None:
                return own
        carried = as_error_info(error)
        if carried is not None:
            return carried
        for error_class, code in CODE_TABLE:
            if isinstance(error, error_class):
                return ErrorInfo(code, _message(error))
        return ErrorInfo(ErrorCode.BAD_REQUEST, _message(error))

    def recoverability(self, error: BaseException) -> Recoverability:
        """Whether the runtime may retry after this error."""
        if self._recoverability:
            registered = _by_class(self._recoverability, type(error))
            if registered is not None:
                return registered  # type: ignore[no-any-return]
        marked = getattr(type(error), _MARK, None)
        if isinstance(marked, Recoverability):
            return marked
        for error_class, value in RECOVERABLE_TABLE:
            if isinstance(error, error_class):
                return value
        return Recoverability.UNKNOWN

    def codes(self) -> Iterator[tuple[type, str]]:
        """The built-in rows, in their order."""
        yield from CODE_TABLE


def _message(error: BaseException) -> str:
    return str(error.args[0]) if len(error.args) == 1 else str(error)


DEFAULT_POLICY: Final = ErrorPolicy()
