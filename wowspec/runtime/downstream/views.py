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
from ..fault_points import running_call

Row = TypeVar("Row")


class Views(MutableMapping[str, Row]):
    """The rows of one projection by id. Rows are kept as they are; a copy of the world gets deep copies of them."""

    __slots__ = ("_owner", "_rows", "_world")

    def __init__(self, owner: str = "Views", rows: dict[str, Row] | None = None, world: World | None = None) -> None:
        self._owner = owner
        self._world = world
        self._rows: dict[str, Row] = {} if rows is None else rows

    def __getitem__(self, view_id: str) -> Row:
        return self._rows[view_id]

    def __setitem__(self, view_id: str, row: Row) -> None:
        """Keep a row.

        Raises:
            SpecError: if the id is no text.
        """
        if not isinstance(view_id, str):
            raise SpecError(
                f"{self._owner} keeps a view under {view_id!r}, which is no text",
                why="expect_view finds a row by the text of its id",
                instead="views[event.aggregate_id.id] = row, with event: DomainEvent[OrderCreated]",
            )
        world = self._world
        if world is None or world.injector is None:
            self._rows[view_id] = row
        else:
            self._write(world, view_id, partial(self._rows.__setitem__, view_id, row))

    def __delitem__(self, view_id: str) -> None:
        world = self._world
        if world is None or world.injector is None:
            del self._rows[view_id]
        else:
            self._write(world, view_id, partial(self._rows.__delitem__, view_id))

    def _write(self, world: World, view_id: str, effect: Callable[[], None]) -> None:
        """Write, past the point `projection.write:<projection>` if faults are aimed at it."""
        point = f"{PROJECTION_WRITE}:{self._owner}"
        injector = world.injector
        running = running_call() if injector is not None and injector.aims_at(point) else None
        if running is None:
            effect()
            return
        exchange = running.exchange
        running.world.pass_plainly(
            point, exchange.lane, exchange.message, view_id, lambda _: effect(), running.handler.place
        )

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
