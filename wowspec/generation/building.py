"""Making a drawn value from its drawn fields: by its own constructor, so that all of its validators have their say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from hypothesis import strategies as st
from pydantic import ValidationError

from ..errors import SpecError, WowError
from ..runtime.validation import path_text

#: Stands for a field that is left to its default.
LEFT_OUT: Final = object()
_REFUSED: Final = object()
#: So many refusals in a row are no chance any more; one example takes up to three.
MOST_REFUSALS: Final = 100
#: What a constructor, or a validator within it, refuses a value with.
_REFUSALS: Final = (ValueError, AssertionError, WowError)


class Maker:
    """Makes values of one class; what its validators refuse is drawn anew, within reason.

    It gives up for good: a failure that Hypothesis replays has to come again.
    """

    __slots__ = ("_given_up", "_in_a_row", "_make", "_root", "_shown")

    def __init__(self, make: Callable[[dict[str, Any]], Any], root: str, shown: str) -> None:
        self._make = make
        self._root = root
        self._shown = shown
        self._in_a_row = 0
        self._given_up = False

    def __call__(self, drawn: dict[str, Any]) -> Any:
        """The value of these fields, or the mark of a refused one."""
        fields = {name: value for name, value in drawn.items() if value is not LEFT_OUT}
        try:
            made = self._make(fields)
        except _REFUSALS as error:
            self._in_a_row += 1
            if self._given_up or self._in_a_row >= MOST_REFUSALS:
                self._given_up = True
                raise self._error(error) from error
            return _REFUSED
        self._in_a_row = 0
        return made

    def _error(self, error: Exception) -> SpecError:
        path, text = "", str(error)
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False)[0]
            path, text = path_text(first["loc"]), first["msg"]
        place = f"{self._shown}.{path}" if path else self._shown
        field = path.partition("[")[0].partition(".")[0]
        return SpecError(
            f"{MOST_REFUSALS} values of {place} in a row were refused: {text}",
            why="types and constraints say what is drawn; what else a validator wants, they do not tell",
            instead=f"from_model({self._root}, {field or 'field'}=...), with a strategy of what it accepts",
        )


def built(
    make: Callable[[dict[str, Any]], Any], fields: Mapping[str, st.SearchStrategy[Any]], root: str, shown: str
) -> st.SearchStrategy[Any]:
    """Values of a class from strategies for its constructor's parameters.

    Args:
        make: the constructor.
        fields: a strategy for each parameter; `LEFT_OUT` among its values leaves one out.
        root: the class that the author asked for.
        shown: the class that is made, as error texts name it.
    """
    drawn = st.fixed_dictionaries(dict(fields))
    return drawn.map(Maker(make, root, shown)).filter(_is_made)


def _is_made(value: Any) -> bool:
    return value is not _REFUSED
