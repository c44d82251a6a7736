"""Making a drawn value from its drawn fields: by its own constructor, so that all of its validators have their say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from hypothesis import reject, strategies as st
from pydantic import ValidationError

from ..errors import SpecError, WowError
from ..runtime.validation import path_text
from .callers import Caller

#: Stands for a field that is left to its default.
LEFT_OUT: Final = object()
#: How often a value is drawn in one example before the example is rejected.
_TRIES: Final = 3
#: So many refusals in a row are no chance any more.
MOST_REFUSALS: Final = 100
#: What a constructor, or a validator within it, refuses a value with.
_REFUSALS: Final = (ValueError, AssertionError, WowError)


class _Maker:
    """Makes values of one class; what its validators refuse is drawn anew, within reason.

    It gives up for good, and only where it would have rejected: what Hypothesis plays again comes out alike.
    """

    __slots__ = ("_caller", "_given_up", "_in_a_row", "_make", "_path", "_shown")

    def __init__(self, make: Callable[[dict[str, Any]], Any], caller: Caller, path: str, shown: str) -> None:
        self._make = make
        self._caller = caller
        self._path = path
        self._shown = shown
        self._in_a_row = 0
        self._given_up = False

    def draw(self, draw: st.DrawFn, fields: st.SearchStrategy[dict[str, Any]]) -> Any:
        """A value of drawn fields."""
        refusal: Exception | None = None
        for _ in range(_TRIES):
            drawn = draw(fields)
            try:
                made = self._make({name: value for name, value in drawn.items() if value is not LEFT_OUT})
            except _REFUSALS as error:
                refusal = error
                self._in_a_row += 1
            else:
                self._in_a_row = 0
                return made
        if self._given_up or self._in_a_row >= MOST_REFUSALS:
            self._given_up = True
            raise self._error(refusal) from refusal
        reject()
        return None

    def _error(self, error: Exception | None) -> SpecError:
        path, text = "", str(error)
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False)[0]
            path, text = path_text(first["loc"]), first["msg"]
        place = f"{self._shown}.{path}" if path else self._shown
        field = path.partition("[")[0].partition(".")[0]
        whole = ".".join(part for part in (self._path, field) if part) or "field"
        return SpecError(
            f"{MOST_REFUSALS} values of {place} in a row were refused: {text}",
            why="types and constraints say what is drawn; what else a validator wants, they do not tell",
            instead=f"{self._caller.with_override(whole)}, with a strategy of what it accepts",
        )


def built(
    make: Callable[[dict[str, Any]], Any],
    fields: Mapping[str, st.SearchStrategy[Any]],
    caller: Caller,
    path: str,
    shown: str,
) -> st.SearchStrategy[Any]:
    """Values of a class from strategies for its constructor's parameters.

    Args:
        make: the constructor.
        fields: a strategy for each parameter; `LEFT_OUT` among its values leaves one out.
        caller: the call that the author wrote.
        path: where in the root's values it stands.
        shown: what is made, as error texts name it.
    """
    maker = _Maker(make, caller, path, shown)
    drawn = st.fixed_dictionaries(dict(fields))

    @st.composite
    def value(draw: st.DrawFn) -> Any:
        return maker.draw(draw, drawn)

    made: st.SearchStrategy[Any] = value()
    return made
