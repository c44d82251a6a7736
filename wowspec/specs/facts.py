"""What a ledger holds: an immutable sequence of event (or command) bodies that can be asked by type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar, overload

from .alignment import match_events
from .matchers import is_group
from .render import render

E_co = TypeVar("E_co", covariant=True)
T = TypeVar("T")


class Facts(Sequence[E_co], Generic[E_co]):
    """Bodies in the order in which they happened; equal to a list or tuple of equal bodies.

    A list that it is compared with may hold matchers: `run.stored == [some(OrderPaid), ANY_EVENTS]`.

    Args:
        bodies: the bodies.
        envelopes: their messages, one a body; empty where there are none.
    """

    __slots__ = ("_bodies", "_envelopes")

    def __init__(self, bodies: Iterable[E_co] = (), envelopes: Iterable[Any] = ()) -> None:
        self._bodies: tuple[E_co, ...] = tuple(bodies)
        self._envelopes: tuple[Any, ...] = tuple(envelopes)
        if self._envelopes and len(self._envelopes) != len(self._bodies):
            message = f"{len(self._bodies)} bodies, but {len(self._envelopes)} envelopes"
            raise ValueError(message)

    @classmethod
    def of_envelopes(cls, envelopes: Iterable[Any]) -> Facts[Any]:
        """The bodies of messages, the messages kept beside them."""
        kept = tuple(envelopes)
        return Facts((envelope.body for envelope in kept), kept)

    @property
    def envelopes(self) -> tuple[Any, ...]:
        """The messages that carried the bodies, in the same order; empty where there are none."""
        return self._envelopes

    @property
    def types(self) -> tuple[type, ...]:
        """The class of each body: `run.stored.types == (OrderCreated, OrderPaid)`."""
        return tuple(type(body) for body in self._bodies)

    def of(self, kind: type[T]) -> Facts[T]:
        """The bodies that are instances of this class (or of a subclass), in their order."""
        places = [place for place, body in enumerate(self._bodies) if isinstance(body, kind)]
        envelopes = [self._envelopes[place] for place in places] if self._envelopes else ()
        bodies: list[Any] = [self._bodies[place] for place in places]
        return Facts(bodies, envelopes)

    def count(self, value: Any) -> int:
        """How many bodies are instances of a class, or are equal to a value that is no class."""
        return len(self.of(value)) if isinstance(value, type) else self._bodies.count(value)

    @overload
    def __getitem__(self, index: int) -> E_co: ...
    @overload
    def __getitem__(self, index: slice) -> Facts[E_co]: ...
    def __getitem__(self, index: int | slice) -> E_co | Facts[E_co]:
        if isinstance(index, slice):
            return Facts(self._bodies[index], self._envelopes[index])
        try:
            return self._bodies[index]
        except IndexError:
            raise IndexError(f"there is no [{index}]: {len(self._bodies)} in all, {self!r}") from None

    def __len__(self) -> int:
        return len(self._bodies)

    def __iter__(self) -> Iterator[E_co]:
        return iter(self._bodies)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Facts):
            return self._bodies == other._bodies
        if isinstance(other, list | tuple):
            if any(is_group(item) for item in other):
                return match_events(other, self._bodies).matched
            return self._bodies == tuple(other)
        return NotImplemented

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return render(self)

    def __wowspec_code__(self) -> tuple[str, list[tuple[str, Any]]]:
        return "Facts", [("", list(self._bodies))]
