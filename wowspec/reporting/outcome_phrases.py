"""Expectations of what senders are told, of the pipeline and of what follows, in words: rows of `PHRASES`."""

from __future__ import annotations

import re
from typing import Any, Final

from ..errors import CommandValidationError, InjectedFault
from ..modeling.phrasing import phrase_of
from .points_in_words import point_in_words, stage_in_words
from .said import Said, Words
from .wording import fields_in_words, joined, plural, quoted, times as how_often, title, value_in_words, words

# --- refusals ---------------------------------------------------------------------------------------------------------

#: How people say that a command fails, by error code.
ERROR_WORDS: Final[dict[str, str]] = {
    "CommandExpectVersionConflict": "it is refused: the {noun} has changed in the meantime",
    "EventVersionConflict": "it fails: somebody else changed the {noun} at the same time",
    "SourcingVersionConflict": "it fails: the history has a gap or a repetition",
    "CommandValidation": "it is refused: what was filled in is not acceptable",
    "DuplicateAggregateId": "it is refused: there is one of this id already",
    "DuplicateRequestId": "it is refused: the same request was made before",
    "IllegalAccessDeletedAggregate": "it is refused: the {noun} is deleted",
    "IllegalAccessOwnerAggregate": "it is refused: the {noun} belongs to somebody else",
    "IllegalAccessSpaceAggregate": "it is refused: the {noun} is in another space",
    "NotFound": "it is refused: there is no such {noun}",
    "IllegalState": "it is refused as things stand",
    "IllegalArgument": "it is refused",
    "RequestTimeout": "it fails with a time-out",
    "InjectedFault": "it fails because of that",
    "TooManyRequests": "it is refused: too many requests",
    "InternalServerError": "it fails: an error of the system",
    "BadRequest": "it fails",
}
#: Error classes, and the code whose words they get.
_BY_CLASS: Final[dict[str, str]] = {
    "ValueError": "IllegalArgument",
    "IllegalArgumentError": "IllegalArgument",
    "ValidationError": "IllegalArgument",
    "RuntimeError": "BadRequest",
    "FileNotFoundError": "NotFound",
    "TimeoutError": "RequestTimeout",
    "InjectedFault": "InjectedFault",
}
#: Classes that say nothing of the reason.
_VAGUE: Final = frozenset({"Exception", "BaseException", "DomainError", "CommandResultError", "WowError"})
_PATTERN: Final = re.compile(r"(?<!\\)[.^$*+?{}\[\]|()]")


def refusal(noun: str, kind: Any, match: Any, code: Any, error: BaseException | None = None) -> str:
    """How a command fails, in words: "it is refused: out of stock (“10 are left”)".

    Args:
        noun: what it was for: "order".
        kind: the error's class, if that was said.
        match: what is searched in its text.
        code: its code.
        error: the error itself, where there is one.
    """
    fields = _fields(error)
    if fields:
        return f"it is refused: {joined(fields)} {'is' if len(fields) == 1 else 'are'} not acceptable"
    reason = _reason(match, error)
    name = getattr(kind, "__name__", "")
    if kind is None or name in _VAGUE:
        name = type(error).__name__ if error is not None and code is None else ""
        kind = type(error) if name else None
    own = _own(kind, error)
    if own is not None:
        return f"it is refused: {own}"
    text = _known(name) or _known(str(code) if code is not None else "")
    if text is None:
        what = words(str(code)) if code is not None else words(name.removesuffix("Error").removesuffix("Exception"))
        if not what or name in _VAGUE:
            return f"it is refused: {reason}" if reason else "it is refused"
        text = f"it is refused: {what}"
    text = text.format(noun=noun)
    if not reason:
        return text
    return f"{text} ({reason})" if ":" in text else f"{text}: {reason}"


def _own(kind: Any, error: BaseException | None) -> str | None:
    """The phrase of the error, or of the class that is expected."""
    if error is not None:
        return phrase_of(type(error), error, value_in_words)
    return phrase_of(kind, None, value_in_words) if isinstance(kind, type) else None


def _known(name: str) -> str | None:
    return ERROR_WORDS.get(_BY_CLASS.get(name, "")) or ERROR_WORDS.get(name.removesuffix("Error"))


def _fields(error: BaseException | None) -> list[str]:
    """The fields that were refused, where that is what was wrong."""
    if not isinstance(error, CommandValidationError):
        return []
    return list(dict.fromkeys(f"“{words(each.name.partition('.')[0])}”" for each in error.binding_errors if each.name))


def _reason(match: Any, error: BaseException | None) -> str:
    """The reason that is searched for: the whole of it where it is known."""
    if not match:
        return ""
    if isinstance(error, InjectedFault):
        return ""
    first = str(error).partition("\n")[0] if error is not None else ""
    if first and re.search(match, first):
        return quoted(first)
    bare = re.sub(r"\\(.)", r"\1", match)
    return quoted(bare) if not _PATTERN.search(match) else f"a reason like {quoted(match)}"


def error(said: Said) -> Words:
    """A command failed."""
    text = refusal(said.noun, said.first("kind"), said.kwargs.get("match"), said.kwargs.get("code"), said.error)
    if not said.together:
        return Words(text)
    count = said.kwargs.get("times")
    if count is None:
        return Words(f"in some order one of them {text.removeprefix('it ')}")
    many = "are" if count > 1 else "is"
    rest = text.removeprefix("it ").replace("is refused", f"{many} refused", 1)
    rest = rest.replace("fails", "fail", 1) if count > 1 else rest
    return Words(f"whatever the order, {of_them(count)} {rest}")


def of_them(count: int) -> str:
    """So many of the commands that were sent together."""
    return {0: "none of them", 1: "exactly one of them"}.get(count, f"exactly {count} of them")


def succeeded(said: Said) -> Words:
    """The sender was told of success."""
    if not said.together:
        return Words("it succeeds")
    count = said.kwargs.get("times")
    verb = "succeeds" if count in (0, 1) else "succeed"
    return Words(f"whatever the order, {'all of them' if count is None else of_them(count)} {verb}")


def result(said: Said) -> Words:
    """What the sender was told besides."""
    told = fields_in_words(said.kwargs.items())
    return Words(f"the sender is told {told}" if told else "the sender is told nothing more")


def stage(said: Said) -> Words:
    """A stage was signalled."""
    fields = {name: value for name, value in said.kwargs.items() if name not in ("stage", "succeeded")}
    extra = f" ({fields_in_words(fields.items())})" if fields else ""
    reached = stage_in_words(said.first("stage"))
    if said.kwargs.get("succeeded", True):
        return Words(f"the sender is told that it was {reached}{extra}")
    return Words(f"whoever waits until it was {reached} is told that it failed{extra}")


# --- pipeline ---------------------------------------------------------------------------------------------------------


def order(said: Said) -> Words:
    """Points one after another."""
    return Words("this comes one after another:", [point_in_words(point) for point in said.args])


def logged(said: Said) -> Words:
    """An error that was swallowed."""
    return Words(f"{point_in_words(said.first('point'))} fails, which is noted, and changes nothing else")


def downstream_error(said: Said) -> Words:
    """What followed failed."""
    source = said.first("source")
    kind = said.args[1] if len(said.args) > 1 else said.kwargs.get("kind")
    text = refusal("thing", kind, said.kwargs.get("match"), said.kwargs.get("code")).removeprefix("it ")
    name = title(getattr(source, "__name__", str(source)))
    return Words(f"{'in some order, ' if said.together else ''}of what follows, {name} {text}")


def acknowledged(said: Said) -> Words:
    """How often the command's receipt was confirmed."""
    count = said.kwargs.get("times", 1)
    return Words(f"its receipt is confirmed {how_often(count)}" if count else "its receipt is not confirmed")


#: What became of the last attempt.
_COMMAND_STATES: Final[dict[str, str]] = {
    "STORED": "its last attempt was stored",
    "SOURCED": "its last attempt was decided, but not stored",
    "EXPIRED": "its last attempt was given up",
}


def command_state(said: Said) -> Words:
    """What became of the last attempt."""
    state = str(said.first("state"))
    return Words(_COMMAND_STATES.get(state.upper(), f"its last attempt was {words(state)}"))


def attempts(said: Said) -> Words:
    """How often it was processed."""
    count = said.first("attempts")
    return Words(f"it is tried {how_often(count)}" if count else f"it never reaches the {said.noun}")


def fired(said: Said) -> Words:
    """How many faults struck."""
    count = said.first("times")
    return Words(f"{plural(count, 'thing')} {'goes' if count == 1 else 'go'} wrong on the way")


def notified(said: Said) -> Words:
    """How often a stage was signalled."""
    count = said.kwargs.get("times", 1)
    reached = stage_in_words(said.first("stage"))
    if not count:
        return Words(f"it is told to nobody that it was {reached}")
    return Words(f"it is told {how_often(count)} that it was {reached}")


def causation(said: Said) -> Words:
    """What caused what."""
    return Words("one thing leads to the next:", [title(part.strip()) for part in str(said.first("text")).split(">")])
