"""Read models that the world keeps for its projections: `views: Views[Row]` on a function or a constructor."""

from __future__ import annotations

import copy
from collections.abc import Iterator, MutableMapping
from typing import Any, TypeVar

from ...errors import SpecError

Row = TypeVar("Row")


class Views(MutableMapping[str, Row]):
    """The rows of one projection by id. Rows are kept as they are; a copy of the world gets deep copies of them."""

    __slots__ = ("_owner", "_rows")

    def __init__(self, owner: str = "Views", rows: dict[str, Row] | None = None) -> None:
        self._owner = owner
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
        self._rows[view_id] = row

    def __delitem__(self, view_id: str) -> None:
        del self._rows[view_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"{self._owner}: {self._rows!r}"


class ViewStore:
    """The views of a world by the class that keeps them."""

    __slots__ = ("_views",)

    def __init__(self) -> None:
        self._views: dict[type, Views[Any]] = {}

    def of(self, projection: type) -> Views[Any]:
        """The rows of a projection; the same object at each call."""
        views = self._views.get(projection)
        if views is None:
            views = self._views[projection] = Views(projection.__name__)
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
