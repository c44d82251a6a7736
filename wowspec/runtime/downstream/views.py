"""Read models that the world keeps for its projections: `views: Views[Row]` on a function or a constructor."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, MutableMapping
from functools import partial
from typing import Any, TypeVar

from ...errors import SpecError
from ...modeling.processors import is_processor, processor_metadata
from ...world.points import PROJECTION_WRITE
from ...world.world import World
from ..fault_points import RunningCall, running_call
from .rows_in_hand import ABSENT, HeldRow, RowsInHand

Row = TypeVar("Row")


class Views(MutableMapping[str, Row]):
    """The rows of one projection by id. Rows are kept as they are; a copy of the world gets deep copies of them.

    A row that a function got from here and changed in place is written when the function ends.
    """

    __slots__ = ("_in_hand", "_owner", "_rows", "_world")

    def __init__(self, owner: str = "Views", rows: dict[str, Row] | None = None, world: World | None = None) -> None:
        self._owner = owner
        self._world = world
        self._rows: dict[str, Row] = {} if rows is None else rows
        self._in_hand = RowsInHand()

    def __getitem__(self, view_id: str) -> Row:
        row = self._rows[view_id]
        world = self._world
        if world is not None and world.injector is not None:
            running = self._aimed_at(world)
            if running is not None:
                self._in_hand.hand_out(running.exchange, view_id, row)
        return row

    def __setitem__(self, view_id: str, row: Row) -> None:
        """Keep a row.

        Raises:
            SpecError: if the id is no text.
        """
        self._require_text(view_id)
        world = self._world
        if world is None or world.injector is None:
            self._rows[view_id] = row
        else:
            self._write(world, view_id, partial(self._rows.__setitem__, view_id, row))

    def _require_text(self, view_id: str) -> None:
        if not isinstance(view_id, str):
            raise SpecError(
                f"{self._owner} keeps a view under {view_id!r}, which is no text",
                why="expect_view finds a row by the text of its id",
                instead="views[event.aggregate_id.id] = row, with event: DomainEvent[OrderCreated]",
            )

    def __delitem__(self, view_id: str) -> None:
        world = self._world
        if world is None or world.injector is None:
            del self._rows[view_id]
        else:
            self._write(world, view_id, partial(self._rows.__delitem__, view_id))

    def setdefault(self, view_id: str, default: Any = None) -> Any:
        """The row; the given one, from now on, where there is none. What the function makes of it is one write.

        Raises:
            SpecError: if the id is no text.
        """
        self._require_text(view_id)
        world = self._world
        if world is not None and world.injector is not None and view_id not in self._rows:
            running = self._aimed_at(world)
            if running is not None and self._in_hand.insert(running.exchange, view_id, default):
                self._rows[view_id] = default
                return default
        return super().setdefault(view_id, default)

    @property
    def _point(self) -> str:
        return f"{PROJECTION_WRITE}:{self._owner}"

    def _aimed_at(self, world: World) -> RunningCall | None:
        """The function that reads or writes, if faults are aimed at its writes."""
        injector = world.injector
        return running_call() if injector is not None and injector.aims_at(self._point) else None

    def _write(self, world: World, view_id: str, effect: Callable[[], None]) -> None:
        """Write, past the point `projection.write:<projection>` if faults are aimed at it."""
        running = self._aimed_at(world)
        if running is None:
            effect()
            return
        exchange, in_hand = running.exchange, self._in_hand
        written = False

        def write(_: Any) -> None:
            nonlocal written
            effect()
            written = True
            if view_id in self._rows:
                in_hand.write(exchange, view_id, self._rows[view_id])
            else:
                in_hand.let_go(exchange, view_id)

        try:
            running.world.pass_plainly(
                self._point, exchange.lane, exchange.message, view_id, write, running.handler.place
            )
        except BaseException:
            # The row was not written, so neither was what had been changed in it.
            held = None if written else in_hand.held(exchange, view_id)
            if held is not None:
                self._undo(view_id, held)
            raise

    def settle(self, exchange: Any, world: World, place: str) -> None:
        """A function has ended: what it changed in place is written now, row by row, past the point.

        Where one of these writes is stopped, neither it nor those behind it happen.

        Args:
            exchange: what the function handled.
            world: where.
            place: the function, for error texts.
        """
        changed = [
            (view_id, held)
            for view_id, held in self._in_hand.take(exchange)
            if self._rows.get(view_id) is held.row and held.is_changed
        ]
        written = 0

        def write(_: Any) -> None:
            nonlocal written
            written += 1

        try:
            for view_id, _ in changed:
                world.pass_plainly(self._point, exchange.lane, exchange.message, view_id, write, place)
        except BaseException:
            for view_id, held in changed[written:]:
                self._undo(view_id, held)
            raise

    def _undo(self, view_id: str, held: HeldRow) -> None:
        if held.before is not ABSENT:
            held.put_back()
        elif self._rows.get(view_id) is held.row:
            del self._rows[view_id]

    def let_go(self, exchange: Any) -> None:
        """A function has failed by itself: what it changed stays as it is, and is no write that could fail."""
        self._in_hand.take(exchange)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"{self._owner}: {self._rows!r}"


class ViewStore:
    """The views of a world by the class that keeps them."""

    __slots__ = ("_views", "_world")

    def __init__(self, world: World | None = None) -> None:
        self._world = world
        self._views: dict[type, Views[Any]] = {}

    def of(self, projection: type) -> Views[Any]:
        """The rows of a projection; the same object at each call."""
        views = self._views.get(projection)
        if views is None:
            name = processor_metadata(projection).name if is_processor(projection) else projection.__name__
            views = self._views[projection] = Views(name, world=self._world)
        return views

    def settle(self, exchange: Any, world: World, place: str) -> None:
        """See `Views.settle`."""
        for views in self._views.values():
            views.settle(exchange, world, place)

    def let_go(self, exchange: Any) -> None:
        """See `Views.let_go`."""
        for views in self._views.values():
            views.let_go(exchange)

    def rows(self) -> Iterator[tuple[str, str, Any]]:
        """Every row: its projection's name, its id, the row."""
        for projection, views in self._views.items():
            for view_id, row in views.items():
                yield projection.__name__, view_id, row

    def take_over(self, other: ViewStore) -> None:
        """Keep deep copies of what another store keeps, for a copy of its world.

        Raises:
            SpecError: if a row cannot be copied.
        """
        for projection, views in other._views.items():
            try:
                rows = copy.deepcopy(dict(views))
            except Exception as error:
                raise SpecError(
                    f"a row of {projection.__name__} cannot be copied: {error}",
                    why="a branch of a spec goes on with read models of its own",
                    instead="keep plain values: pydantic models, dataclasses, dicts, texts, numbers",
                ) from error
            self.of(projection)._rows.update(rows)
