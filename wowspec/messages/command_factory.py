"""The command message factory: rewriters, and validation before them (CMD-057 to CMD-062)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from ..errors import RewriteNoCommandError
from ..modeling.annotations import Blocking, function_mark
from ..modeling.configuration import Scopes
from ..modeling.scopes import DECLARED
from .commands import CommandBuilder
from .envelopes import CommandMessage
from .ids import Origin

#: Checks a body's fields; raises whatever should refuse it.
Validator = Callable[[Any], None]

R = TypeVar("R", bound="CommandRewriter")


class CommandRewriter(Protocol):
    """Changes or replaces the builder of one class of commands; the method may be async, and may yield nothing."""

    def rewrite(
        self, builder: CommandBuilder[Any], /
    ) -> CommandBuilder[Any] | Awaitable[CommandBuilder[Any] | None] | None:
        """The builder to convert, or None to refuse the command."""
        ...


def is_blocking(rewriter: CommandRewriter) -> bool:
    """Whether the runtime would run the rewriter on an elastic worker (CMD-062). The model has no threads."""
    return function_mark(getattr(rewriter.rewrite, "__func__", rewriter.rewrite), Blocking) is not None


class RewriterRegistry:
    """One rewriter for each exact command class (CMD-061)."""

    __slots__ = ("_rewriters",)

    def __init__(self) -> None:
        self._rewriters: dict[type, CommandRewriter] = {}

    def register(self, command_class: type, rewriter: R) -> R:
        """Use this rewriter for the class, instead of one registered before; returns it."""
        self._rewriters[command_class] = rewriter
        return rewriter

    def unregister(self, command_class: type) -> CommandRewriter | None:
        """Forget the rewriter of a class; returns it."""
        return self._rewriters.pop(command_class, None)

    def rewriter_of(self, command_class: type) -> CommandRewriter | None:
        """The rewriter of this very class, or None; a superclass's is not used (CMD-057)."""
        return self._rewriters.get(command_class)

    def copy(self) -> RewriterRegistry:
        """An independent registry of the same rewriters."""
        other = RewriterRegistry()
        other._rewriters.update(self._rewriters)
        return other


def _no_validation(_body: Any) -> None:
    """Accept every body."""


@dataclass(slots=True)
class CommandMessageFactory:
    """Makes messages of builders.

    Attributes:
        origin: where ids and the time come from.
        validator: checks the fields of a body that has a rewriter; its own `validate_command` is not called (CMD-059).
        rewriters: rewriters by command class.
        scopes: where a class that does not name its aggregate finds it.
    """

    origin: Origin
    validator: Validator = _no_validation
    rewriters: RewriterRegistry = field(default_factory=RewriterRegistry)
    scopes: Scopes = DECLARED

    def create(self, builder: CommandBuilder[Any]) -> Awaitable[CommandMessage[Any]]:
        """The message, when awaited.

        Without a rewriter it is built in this call, so that a failure is raised here and nothing is validated (CMD-057,
        CMD-058). With one, validation fails here, and the rest when the result is awaited.

        Raises:
            IllegalArgumentError: if nothing names the aggregate.
            RewriteNoCommandError: on awaiting, if the rewriter yields nothing (CMD-060).
        """
        body = builder.values.body
        rewriter = self.rewriters.rewriter_of(type(body))
        if rewriter is None:
            message = builder.to_command_message(self.origin, scopes=self.scopes)
            return _Lazy(lambda: _value(message))
        self.validator(body)
        return _Lazy(lambda: self._rewrite(builder, rewriter).__await__())

    async def _rewrite(self, builder: CommandBuilder[Any], rewriter: CommandRewriter) -> CommandMessage[Any]:
        rewritten = rewriter.rewrite(builder)
        result = await rewritten if inspect.isawaitable(rewritten) else rewritten
        if result is None:
            raise RewriteNoCommandError(builder, rewriter)
        return result.to_command_message(self.origin, scopes=self.scopes)


Steps = Generator[Any, Any, CommandMessage[Any]]


@dataclass(frozen=True, slots=True)
class _Lazy:
    """An awaitable that starts its work when it is awaited, each time anew; never awaited, it does nothing."""

    start: Callable[[], Steps]

    def __await__(self) -> Steps:
        return self.start()


def _value(message: CommandMessage[Any]) -> Steps:
    return message
    yield  # a generator that is done at once
