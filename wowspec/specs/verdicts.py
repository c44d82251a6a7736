"""What makes a run fail although no expectation was wrong: a law that broke, an error that nobody expected."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import SpecFailure
from ..messages.envelopes import CommandMessage
from ..world.world import LoggedFailure
from .handler_hints import error_hint
from .nodes import Node
from .origins import sent_by
from .render import render
from .run import PROGRAMMING_ERRORS, Run
from .run_hints import law_after_when, never_created, run_hints, with_hints
from .saying import traceback_text
from .showing import shown
from .story import timeline


def settle(run: Run, where: Callable[[], str] = str) -> None:
    """Require that success or failure is decided, that no law is broken, and that no error went by unseen.

    Args:
        run: the run.
        where: gives the beginning of the text: the place of the command in the test, no line of which may be running
            any more.

    Raises:
        SpecFailure: which tells the error with the user's part of its traceback.
    """
    __tracebackhide__ = True
    obey_laws(run)
    error = run.error
    if error is not None and not run.decided:
        raise SpecFailure(where() + undecided_text(run, error)) from None
    unseen = run.unexpected()
    if unseen:
        index, entry = unseen[0]
        raise SpecFailure(where() + unseen_text(run, entry, given=index < run.earlier)) from None


def obey_laws(run: Run, node: Node | None = None) -> None:
    """Require that every law held.

    Args:
        run: the run.
        node: the step whose expectation looks at it, if one does.

    Raises:
        SpecFailure: with the texts of all breaches.
    """
    __tracebackhide__ = True
    if run.breaches:
        texts = "\n".join(breach.text for breach in run.breaches)
        raise SpecFailure(f"{with_hints(texts, [law_after_when(run, node)])}\n{timeline(run)}")


def undecided_text(run: Run, error: BaseException) -> str:
    """An error that nobody expected."""
    if run.is_unknown:
        head = f"{shown(run.command)} ended in a deadline, and nothing says that this was expected"
        instead = ".expect_unknown_outcome()"
    else:
        head = f"{shown(run.command)} failed with {type(error).__name__}, which nobody expected"
        instead = f".expect_error({type(error).__name__})"
        if isinstance(error, PROGRAMMING_ERRORS):
            head += "; it looks like a bug of the handler"
    return "\n".join(
        [
            head,
            traceback_text(error),
            *(f"  hint: {hint}" for hint in run_hints(run)),
            timeline(run),
            f"  if it should: {instead}",
        ]
    )


def if_it_should(run: Run, text: str) -> list[str]:
    """A line with what to expect first, if a command may well have failed; none where a failure's text says it."""
    error = run.error
    if error is None or run.decided or run.is_unknown or run.message is None or "expect_error(" in text:
        return []
    slip = isinstance(error, PROGRAMMING_ERRORS) or error_hint(error, run, run.message) is not None
    return [] if slip else [f"  if it should: .expect_error({type(error).__name__})"]


def unseen_text(run: Run, entry: LoggedFailure, *, given: bool = False) -> str:
    """An error that the runtime logged and swallowed; `given`: while history was delivered."""
    subject = getattr(entry.subject, "body", entry.subject)
    kind = type(entry.cause).__name__
    processor = entry.point.partition(":")[2].partition(".")[0]
    if isinstance(entry.subject, CommandMessage) or processor:
        source = type(subject).__name__ if isinstance(entry.subject, CommandMessage) else processor
        instead = f".expect_downstream_error({source}, {kind})"
    else:
        instead = f".expect_logged({entry.point!r}, {kind})"
    return "\n".join(
        [
            f"the runtime logged and swallowed an error at {entry.point}: {kind}"
            + ("" if entry.cause is entry.error else ", the last when its retries were exhausted"),
            f"  while handling {render(subject)}" + (", as what is given was delivered" if given else ""),
            traceback_text(entry.cause),
            *(sent_by(run, entry.subject) if isinstance(entry.subject, CommandMessage) else ()),
            *(f"  hint: {hint}" for hint in _mends(run, entry)),
            timeline(run),
            "  why: what is given was taken for handled, and yet something downstream did not happen"
            if given
            else "  why: the command's sender is told of success, and yet something downstream did not happen",
            f"  if it should: {instead}",
        ]
    )


def _mends(run: Run, entry: LoggedFailure) -> list[str]:
    """What would mend an error that was swallowed."""
    subject = entry.subject
    found = [error_hint(entry.cause, run, subject)]
    if isinstance(subject, CommandMessage):
        found.append(never_created(run.session, subject, entry.cause))
    return [hint for hint in found if hint is not None]
