"""A world as a condition sees it: read-only, at whatever moment it is asked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..errors import SpecError
from ..runtime.sourcing import StateAggregate
from ..world.services import NOBODY_IS, is_bare_protocol
from . import looking
from .facts import Facts
from .misspelt import no_verb
from .render import BRIEF, render
from .session import Session

S = TypeVar("S")
T = TypeVar("T")


class WorldView:
    """What a condition is given: `always(lambda world: world.state(Stock, "s-1").left >= 0)`.

    What it gives are copies, but for services. Without an id, an instance is the one of its type that was last spoken
    of, by history or by a command.
    """

    __slots__ = ("_answers", "_session")

    def __init__(self, session: Session) -> None:
        self._session = session
        self._answers: list[tuple[str, tuple[Any, ...], Any]] = []

    if not TYPE_CHECKING:
        __getattr__ = no_verb("the world of a condition")

    @overload
    def state(self, aggregate: Callable[[S], Any], id: str | None = None, *, tenant_id: str | None = None) -> S: ...
    @overload
    def state(self, aggregate: type[S], id: str | None = None, *, tenant_id: str | None = None) -> S: ...  # pyright: ignore[reportOverlappingOverload]
    def state(self, aggregate: Any, id: str | None = None, *, tenant_id: str | None = None) -> Any:  # noqa: A002
        """An instance's state, as its history says; without history the state that it begins with."""
        reference = looking.instance(self._session, aggregate, id, tenant_id, "world")
        return self._said(looking.copied(self._session, reference).state, "state", aggregate, reference.id)

    def aggregate(self, aggregate: type, id: str | None = None, *, tenant_id: str | None = None) -> StateAggregate:  # noqa: A002
        """An instance: `version` (0 without history), `owner_id`, `space_id`, `tenant_id`, `deleted`, `state`, …."""
        reference = looking.instance(self._session, aggregate, id, tenant_id, "world")
        return self._said(looking.copied(self._session, reference), "aggregate", aggregate, reference.id)

    def stored(self, aggregate: type, id: str | None = None, *, tenant_id: str | None = None) -> Facts[Any]:  # noqa: A002
        """The events that the store holds of an instance; empty (and false) without history."""
        reference = looking.instance(self._session, aggregate, id, tenant_id, "world")
        return self._said(looking.stored(self._session, reference), "stored", aggregate, reference.id)

    def snapshot(
        self,
        aggregate: type,
        id: str | None = None,  # noqa: A002
        *,
        tenant_id: str | None = None,
    ) -> StateAggregate | None:
        """An instance as its stored snapshot says, with its `version` and `state`; None if none is stored."""
        reference = looking.instance(self._session, aggregate, id, tenant_id, "world")
        store = self._session.runtime.snapshot_store
        record = store.record(reference)
        return self._said(None if record is None else store.restored(record), "snapshot", aggregate, reference.id)

    def views(self, projection: type) -> dict[str, Any]:
        """The rows that a projection keeps, by their ids.

        Raises:
            SpecError: if the world holds no such projection.
        """
        return self._said(self._rows(projection, "views"), "views", projection)

    def view(self, projection: type, view_id: str) -> Any:
        """A row that a projection keeps; None if there is none of this id.

        Raises:
            SpecError: if the world holds no such projection.
        """
        return self._said(self._rows(projection, "view").get(view_id), "view", projection, view_id)

    @overload
    def service(self, wanted: type[T]) -> T: ...
    @overload
    def service(self, wanted: str) -> Any: ...
    def service(self, wanted: type | str) -> Any:
        """A service, by its type or its name: the very object that handlers are given.

        Raises:
            SpecError: if there is none.
        """
        services = self._session.world.services
        found = services.by_name(wanted) if isinstance(wanted, str) else services.by_type(wanted)
        if found is None:
            text = repr(wanted) if isinstance(wanted, str) else getattr(wanted, "__name__", repr(wanted))
            raise SpecError(
                f"world.service({text}): the world has no such service; there are: {services.offer()}",
                why="a world has the services that its spec gives",
                instead=_given_by(wanted, text),
            )
        return self._said(found, "service", wanted)

    def now(self) -> datetime:
        """Virtual time, an aware UTC datetime."""
        return self._said(self._session.world.clock.now(), "now")

    def __repr__(self) -> str:
        return "<world>"

    def _said(self, answer: T, verb: str, *asked: Any) -> T:
        self._answers.append((verb, asked, answer))
        return answer

    def _rows(self, projection: type, verb: str) -> dict[str, Any]:
        instead = f".using({getattr(projection, '__name__', 'OrderView')})"
        return looking.rows(self._session, projection, f"world.{verb}", instead)


def _given_by(wanted: type | str, text: str) -> str:
    """How a service would be there."""
    if not isinstance(wanted, type):
        return f".inject({wanted}=...)"
    if is_bare_protocol(wanted):
        return f"its name, as in world.service('name'), or @runtime_checkable above {text}: {NOBODY_IS}"
    return f".inject({text}())"


def told(view: WorldView) -> list[str]:
    """What was asked and answered, as lines; each once."""
    lines = []
    for verb, asked, answer in view._answers:
        names = [item.__name__ if isinstance(item, type) else render(item, BRIEF) for item in asked]
        lines.append(f"world.{verb}({', '.join(names)}): {_text(answer)}")
    return list(dict.fromkeys(lines))


def _text(answer: Any) -> str:
    if isinstance(answer, StateAggregate):
        owner = f", owner {answer.owner_id!r}" if answer.owner_id else ""
        gone = ", deleted" if answer.deleted else ""
        return f"version {answer.version}{owner}{gone}, {render(answer.state)}"
    return render(answer)
