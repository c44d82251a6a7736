"""Expectations of the outcome and of the way through the pipeline: each gives a failure text, or None."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..errors import CommandResultError, DeadlineExceeded, ErrorCode, SpecError
from ..messages.envelopes import CommandMessage
from ..messages.stages import CommandStage
from ..messages.wait_signals import WaitSignal
from ..runtime.aggregate import CommandState
from ..world.points import (
    COMMAND_ACKNOWLEDGE,
    COMMAND_BUS_SEND,
    WAIT_NOTIFY,
)
from ..world.trace import TraceRow
from ..world.world import LoggedFailure
from .layout import several
from .render import BRIEF, quoted, render
from .requirements import CommandStateName, StageName, require_number, require_point, require_stage
from .run import APPLIED, PROGRAMMING_ERRORS, Run
from .saying import first_line, refused_fields, text_of, traceback_text
from .showing import shown
from .unfailed import succeeded_instead
from .value_diff import mapping_text, order_text

#: A pattern is looked for in all of an error's text.
WHOLE_TEXT: Final = 1 << 62
#: So much of an error's text is shown as a pattern to write.
_LONGEST_PATTERN: Final = 60
_SIGNAL_FIELDS: Final = tuple(name for name in WaitSignal.__dataclass_fields__ if name != "original_error")


def error(run: Run, kind: type[BaseException] | None, match: str | None, code: str | None) -> str | None:
    """The command failed, with an error of this class, text and code; all given parts must hold."""
    _require_something("expect_error", kind, match, code)
    failure, found = run.failure, run.error
    if failure is None or found is None:
        return succeeded_instead(run, wanted_text(kind, match, code), kind, match)
    if isinstance(failure, DeadlineExceeded):
        return (
            f"{shown(run.command)} did not fail: its sender's deadline passed, and its outcome is unknown\n"
            "  why: it may have done all that it should, or still will; nobody told its sender of an error\n"
            "  instead: .expect_unknown_outcome()"
        )
    own = code_of(run)
    if code is not None and own != code:
        return f"{_said(found, own)}, expected code {code!r}{_close_code(code)}{_if_meant(f'code={own!r}')}"
    named = kind is not None and (isinstance(found, kind) or isinstance(failure, kind))
    if kind is not None and not named:
        meant = "" if isinstance(found, PROGRAMMING_ERRORS) else _if_meant(type(found).__name__)
        return f"{_said(found, own)}, expected {wanted_text(kind, match, code)}{meant}"
    if isinstance(found, PROGRAMMING_ERRORS) and not _is_bug_named(kind):
        return f"{_said(found, own)}: {_looks_like_a_bug(found)}"
    if match is not None and not is_matched(match, found):
        return (
            f"{_said(found, own)}, expected its text to match {match!r}{_if_meant(f'match={_pattern(text_of(found))}')}"
        )
    run.decided = True
    return None


def is_matched(match: str, found: BaseException) -> bool:
    """Whether a pattern is found in what an error says, or in `field: why` of a field that was refused."""
    return any(re.search(match, text) for text in (text_of(found, WHOLE_TEXT), *refused_fields(found)))


def _if_meant(arguments: str) -> str:
    return f"\n  instead: .expect_error({arguments}), if that is meant"


def _pattern(text: str) -> str:
    """A regular expression for the beginning of a text, as code."""
    line = (text.splitlines() or [""])[0][:_LONGEST_PATTERN]
    return quoted(re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", line))


def _is_bug_named(kind: type[BaseException] | None) -> bool:
    return kind is not None and issubclass(kind, PROGRAMMING_ERRORS)


def _looks_like_a_bug(found: BaseException) -> str:
    return (
        "this looks like a bug of the handler, and it was not expected by its type\n"
        f"  instead: mend the handler, or .expect_error({type(found).__name__}) if it is meant"
    )


def _require_something(verb: str, kind: Any, match: str | None, code: str | None) -> None:
    if kind is None and match is None and code is None:
        raise SpecError(
            f"{verb}() says no error",
            why="any error would do, a bug of the handler among them",
            instead=f"{verb}(ValueError), {verb}(code='IllegalState'), or both",
        )
    _require_error(verb, kind, match, code)


def _told_apart(verb: str, kind: Any) -> str:
    """How to expect an error that was given by an object of it, by its name, its text or its code."""
    source = "OrderView, " if verb == "expect_downstream_error" else ""
    if verb == "expect_logged":
        return f"{verb}('event.handler:OrderView.on_event', ValueError)"
    if isinstance(kind, BaseException):
        return f"{verb}({source}{type(kind).__name__}, match={str(kind)!r})"
    if not isinstance(kind, str):
        return f"{verb}({source}ValueError, match='at most')"
    if kind.isidentifier() and not kind.islower():
        # One word in capitals: a class, or a code such as `NotFound`.
        return f"{verb}({source}{kind})" if kind.endswith(("Error", "Exception")) else f"{verb}({source}code={kind!r})"
    return f"{verb}({source}match={_pattern(kind)})"


def _require_error(verb: str, kind: Any, match: str | None, code: str | None) -> None:
    if kind is not None and not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise SpecError(
            f"{verb}({render(kind, BRIEF)}) is given no exception class",
            why="errors are told by one class, by text and by code",
            instead=_told_apart(verb, kind),
        )
    if match is not None:
        try:
            re.compile(match)
        except (re.error, TypeError) as error:
            raise SpecError(
                f"{verb}(match={match!r}): {error}",
                why="match is a regular expression, searched in the error's text",
                instead=f"match={re.escape(str(match))!r}",
            ) from None
    said: Any = code
    if said is not None and not isinstance(said, str):
        raise SpecError(f"{verb}(code={code!r})", why="an error code is a text", instead=f"{verb}(code='IllegalState')")


def wanted_text(kind: Any, match: str | None, code: str | None) -> str:
    """Which error is expected, in words."""
    parts = [kind.__name__] if kind is not None else []
    parts += [f"code {code!r}"] if code is not None else []
    parts += [f"a text that matches {match!r}"] if match is not None else []
    return ", ".join(parts)


def _said(found: BaseException, code: str, who: str = "the command") -> str:
    said = text_of(found)
    text = f": {said}" if said else ""
    return f"{who} failed with {type(found).__name__} (code {code!r}){text}"


def _close_code(code: str) -> str:
    known = {value for name, value in vars(ErrorCode).items() if not name.startswith("_") and isinstance(value, str)}
    close = next((value for value in sorted(known) if value.lower() == code.lower().replace("_", "")), None)
    return f"; did you mean {close!r}?" if close is not None and code not in known else ""


def code_of(run: Run) -> str:
    """The error code that the sender was told."""
    failure = run.failure
    if isinstance(failure, CommandResultError):
        return failure.error_code
    assert failure is not None
    return run.session.world.errors.info(failure).error_code


def succeeded(run: Run) -> str | None:
    """The command's sender was told of success."""
    found = run.error
    if found is None:
        return None
    said = f"{shown(run.command)} was expected to succeed"
    if run.is_unknown:
        return f"{said}, but the deadline of its sender passed: its outcome is unknown"
    text = first_line(found)
    how = f"{said}, but failed with {type(found).__name__}{f': {text}' if text else ''}"
    return how if isinstance(found, PROGRAMMING_ERRORS) else f"{how}{_if_meant(type(found).__name__)}"


def unknown_outcome(run: Run) -> str | None:
    """The sender's own deadline passed."""
    if not run.is_unknown:
        how = "succeeded" if run.succeeded else f"failed with {type(run.error).__name__}"
        return f"{shown(run.command)} {how}: its outcome is known, no deadline passed"
    run.decided = True
    return None


def any_outcome(run: Run) -> str | None:
    """Whatever the sender was told is accepted, but for a handler's bug."""
    found = run.error
    if isinstance(found, PROGRAMMING_ERRORS):
        return f"{_said(found, code_of(run))}: {_looks_like_a_bug(found)}"
    run.decided = True
    return None


def result(run: Run, expected: Mapping[str, Any]) -> str | None:
    """The result map that reached the sender, exactly."""
    held = run.result.result if run.result is not None else {}
    return mapping_text(expected, held, subject="the command's result", root="result", exact=True) or None


def stage(run: Run, wanted: CommandStage | StageName, succeeded: bool, fields: Mapping[str, Any]) -> str | None:
    """A stage was reached, with success or failure."""
    wanted = require_stage("expect_stage", wanted)
    unknown = [name for name in fields if name not in _SIGNAL_FIELDS]
    if unknown:
        raise SpecError(
            f"expect_stage({wanted.name}, {unknown[0]}=...): a signal has no {unknown[0]!r}",
            why="no signal could ever meet it",
            instead="one of " + ", ".join(_SIGNAL_FIELDS),
        )
    found = stage_outcomes(run, wanted)
    if not found:
        others = _signalled_for(run, wanted)
        if others:
            return (
                f"{wanted.name} was not signalled for {type(run.command).__name__}\n"
                f"  why: it was for {', '.join(others)}; expect_stage(...) looks at the stages of the command itself\n"
                f"  instead: .expect_notified({wanted.name})"
            )
        return (
            f"{wanted.name} was not signalled\n"
            f"  why: {_why_not(run, wanted)}\n"
            f"  instead: when(..., wait_for={wanted.name.lower()}(...)), if it should have been"
        )
    if succeeded not in [code == "succeeded" for code in found]:
        how = ", ".join(found)
        return f"{wanted.name} was signalled ({how}), expected {'success' if succeeded else 'failure'}"
    if fields:
        signal = next((item for item in run.signals if item.stage is wanted), None)
        if signal is None:
            return f"no signal of {wanted.name} reached the notifier, so its fields cannot be looked at"
        held = {name: getattr(signal, name, None) for name in fields}
        text = mapping_text(fields, held, subject=f"the {wanted.name} signal", root="signal")
        if text:
            return text
    # A stage that failed is no name for a bug: that is still to be expected by its type.
    if not succeeded and not isinstance(run.error, PROGRAMMING_ERRORS):
        run.decided = True
    return None


def stage_outcomes(run: Run, wanted: CommandStage) -> list[str]:
    """`succeeded` or an error's code, for each time that a stage was signalled."""
    if wanted is CommandStage.SENT:
        rows = [row for row in run.rows_of(COMMAND_BUS_SEND) if _is_of(row, run)]
        return ["succeeded" if row.error is None else row.outcome for row in rows] or (
            [code_of(run)] if run.failure is not None and not run.is_unknown else []
        )
    return [row.detail for row in run.rows_of(f"{WAIT_NOTIFY}:{wanted.value}") if _is_of(row, run)]


def _signalled_for(run: Run, wanted: CommandStage) -> list[str]:
    """Classes of the other commands for which a stage was signalled, such as those at the tail of a chain."""
    ids = {
        row.subject.command_id
        for row in run.rows_of(f"{WAIT_NOTIFY}:{wanted.value}")
        if row.detail == "succeeded" and not _is_of(row, run)
    }
    sent = [row.subject for row in run.rows_of(COMMAND_BUS_SEND)]
    return list(dict.fromkeys(type(message.body).__name__ for message in sent if message.id in ids))


def _is_of(row: TraceRow, run: Run) -> bool:
    subject = row.subject
    own = subject.id if isinstance(subject, CommandMessage) else getattr(subject, "command_id", None)
    return own == run.command_id


def _why_not(run: Run, wanted: CommandStage) -> str:
    if run.exchange is None:
        return "the command did not reach its aggregate"
    if wanted is not CommandStage.PROCESSED:
        return "a stage is signalled only to a sender that waits for it (or for one that follows it)"
    return "the handler chain did not come to its end"


def order(run: Run, points: Sequence[str]) -> str | None:
    """The points were passed in this order, others between them or not.

    Raises:
        SpecError: for a point that does not exist.
    """
    if len(points) < 2:
        raise SpecError(
            f"expect_order({', '.join(map(repr, points))})",
            why="an order is of two points at least",
            instead="expect_order('event_store.append', 'command.acknowledge')",
        )
    for point in points:
        require_point("expect_order", point)
    return order_text(points, [row.point for row in run.rows]) or None


def logged(run: Run, point: str, kind: type[BaseException] | None) -> str | None:
    """The runtime logged and swallowed an error at a point."""
    require_point("expect_logged", point)
    _require_error("expect_logged", kind, None, None)
    found = [
        (index, entry)
        for index, entry in enumerate(run.logged)
        if entry.point == point and (kind is None or isinstance(entry.error, kind) or isinstance(entry.cause, kind))
    ]
    if not found:
        wanted = f"no {kind.__name__}" if kind is not None else "nothing"
        return f"{wanted} was logged at {point}{_also(run.logged)}"
    if not _is_bug_named(kind):
        bug = next((entry.error for _, entry in found if isinstance(entry.error, PROGRAMMING_ERRORS)), None)
        if bug is not None:
            return (f"{type(bug).__name__} was logged at {point}: {text_of(bug)}: {_looks_like_a_bug(bug)}").replace(
                ".expect_error(", f".expect_logged({point!r}, "
            )
    run.excused.update(index for index, _ in found)
    return None


def _also(entries: Sequence[LoggedFailure]) -> str:
    if not entries:
        return "; nothing was logged at all"
    return "; logged were: " + ", ".join(
        f"{entry.point}: {type(entry.cause).__name__}{_of_whom(entry)}" for entry in entries
    )


def _of_commands(run: Run) -> list[str]:
    """What names the failures of the commands that followed."""
    return [
        f".expect_downstream_error({type(entry.subject.body).__name__}, {type(entry.cause).__name__})"
        for _, entry in run.unexpected()
        if isinstance(entry.subject, CommandMessage)
    ]


def _of_whom(entry: LoggedFailure) -> str:
    """Whose it is, where its point does not say it."""
    return f" of {type(entry.subject.body).__name__}" if isinstance(entry.subject, CommandMessage) else ""


def downstream_error(
    run: Run, source: type, kind: type[BaseException] | None, match: str | None, code: str | None
) -> str | None:
    """A command that followed, or a processor's function, failed so."""
    if not isinstance(source, type):
        raise SpecError(
            f"expect_downstream_error({render(source, BRIEF)}, ...)",
            why="it begins with whose error it is: the class of a processor, or of a command that followed",
            instead="expect_downstream_error(OrderView, ValueError)",
        )
    _require_error("expect_downstream_error", kind, match, code)
    found = [(index, entry) for index, entry in enumerate(run.logged) if comes_from(entry, source, run)]
    if not found:
        text = f"nothing of {source.__name__} failed downstream{_also(run.logged)}"
        return "\n  instead: ".join([text, *_of_commands(run)[:1]])
    for index, entry in found:
        for told in dict.fromkeys((entry.cause, entry.error)):
            info = run.session.world.errors.info(told)
            if (
                (kind is None or isinstance(told, kind))
                and (match is None or is_matched(match, told))
                and (code is None or info.error_code == code)
                and (_is_bug_named(kind) or not isinstance(told, PROGRAMMING_ERRORS))
            ):
                run.excused.add(index)
                return None
    entry = found[0][1]
    cause = entry.cause
    who = type(entry.subject.body).__name__ if isinstance(entry.subject, CommandMessage) else entry.place
    told_as = _said(cause, run.session.world.errors.info(cause).error_code, who)
    if isinstance(cause, PROGRAMMING_ERRORS) and not _is_bug_named(kind):
        return f"downstream {told_as}: {_looks_like_a_bug(cause)}".replace(
            ".expect_error(", f".expect_downstream_error({source.__name__}, "
        )
    meant = f"  instead: .expect_downstream_error({source.__name__}, {type(cause).__name__}), if that is meant"
    text = f"downstream {told_as}, expected {wanted_text(kind, match, code)}"
    return "\n".join([text, meant, f"  {who} failed:", traceback_text(cause)])


def comes_from(entry: LoggedFailure, source: type, run: Run) -> bool:
    """Whether a logged error is of a command that followed (its class), or of a processor."""
    subject = entry.subject
    if isinstance(subject, CommandMessage) and subject is not run.message:
        return isinstance(subject.body, source)
    return entry.point.partition(":")[2].partition(".")[0] == source.__name__


def acknowledged(run: Run, times: int) -> str | None:
    """The command was acknowledged so often."""
    require_number("expect_acknowledged", times, least=0, name="times=")
    done = acknowledgements(run)
    return None if done == times else f"the command was acknowledged {several(done, 'time')}, expected {times}"


def acknowledgements(run: Run) -> int:
    """How often the command was acknowledged to its bus."""
    return sum(1 for row in run.rows_of(COMMAND_ACKNOWLEDGE) if row.outcome in APPLIED and _is_of(row, run))


def command_state(run: Run, expected: CommandState | CommandStateName) -> str | None:
    """The state of the command aggregate after its last attempt."""
    if expected not in list(CommandState):
        close = difflib.get_close_matches(str(expected), list(CommandState), 1) or list(CommandState)
        raise SpecError(
            f"expect_command_state({expected!r})",
            why="no command aggregate is ever in such a state",
            instead=" or ".join(f"expect_command_state({str(state)!r})" for state in close),
        )
    aggregate = run.exchange.command_aggregate if run.exchange is not None else None
    if aggregate is None:
        return "no command aggregate was made: the command did not get so far"
    own = aggregate.command_state
    return None if own == expected else f"the command aggregate is {own}, expected {expected}"


def attempts(run: Run, expected: int) -> str | None:
    """How often the aggregate processed the command."""
    require_number("expect_attempts", expected, least=0)
    done = run.attempts
    return None if done == expected else f"the command was processed in {several(done, 'attempt')}, expected {expected}"


def fired(run: Run, expected: int) -> str | None:
    """How many faults struck during this run."""
    require_number("expect_fired", expected, least=0)
    struck = len(run.fired)
    listed = "".join(f"\n    {item.point}@{item.visit}={item.kind.value} struck {item.key}" for item in run.fired)
    return None if struck == expected else f"{several(struck, 'fault')} struck, expected {expected}{listed}"
