"""What an expectation's author said, and what it says in words: what the rows of `PHRASES` take and give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..specs.items import On
from ..specs.matchers import AnyEvents
from .wording import message, value_in_words, words


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence, and one line for each further item."""

    sentence: str
    details: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Said:
    """An expectation, as its author wrote it.

    Attributes:
        verb: its verb.
        args: what it was given.
        kwargs: likewise, by name.
        noun: what the spec is about, in words: "order".
        view: whose rows are looked at where no projection is named, in words: "order board".
        together: whether it speaks of commands that were in flight together.
        error: what the command failed with, where that is known.
    """

    verb: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    noun: str = "state"
    view: str = "view"
    together: bool = False
    error: BaseException | None = None

    def first(self, name: str, default: Any = None) -> Any:
        """The first argument, given by place or by name."""
        return self.args[0] if self.args else self.kwargs.get(name, default)


Row = Callable[[Said], Words]


def plain(sentence: str) -> Row:
    """A row that always says the same."""
    return lambda _: Words(sentence)


def listing(head: str) -> Row:
    """A row that lists what the verb was given."""
    return lambda said: listed(head, said.args) if said.args else Words(f"{head}: nothing")


def listed(head: str, items: Iterable[Any]) -> Words:
    """A head and what is listed below it; a single item stands in the same line."""
    texts = [item_in_words(item) for item in items]
    return Words(f"{head}: {texts[0]}") if len(texts) == 1 else Words(f"{head}:", texts)


def item_in_words(item: Any) -> str:
    """One of several things that are expected."""
    return "anything else, or nothing" if isinstance(item, AnyEvents) else message(item)


def instance(target: On) -> str:
    """One instance in words: "order o-1"."""
    return f"{words(target.aggregate.__name__)} {value_in_words(target.id)}"


def whose(said: Said) -> str:
    """The instance that a verb names first; else what the spec is about."""
    target = said.first("target")
    return instance(target) if isinstance(target, On) else f"the {said.noun}"
