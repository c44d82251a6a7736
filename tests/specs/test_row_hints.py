"""A row that is missing: its function failed, wrote nothing, or got nothing; each is told, with what to write."""

from __future__ import annotations

from contextlib import suppress

import pytest
from pydantic import BaseModel

from wowspec import (
    SpecFailure,
    Views,
    aggregate_root,
    create_aggregate,
    given,
    on,
    on_command,
    on_sourcing,
    projection,
    spec,
)

from .ending import a_test


@create_aggregate
class Plant(BaseModel):
    id: str = "bed-1"
    kind: str = "rose"


class Planted(BaseModel):
    kind: str = "rose"


class Weeded(BaseModel):
    pass


class BedState(BaseModel):
    id: str

    @on_sourcing
    def planted(self, event: Planted) -> None:
        pass

    @on_sourcing
    def weeded(self, event: Weeded) -> None:
        pass


@aggregate_root(context="garden")
class Bed:
    def __init__(self, state: BedState) -> None:
        self.state = state

    @on_command
    def plant(self, command: Plant) -> Planted:
        return Planted(kind=command.kind)


@projection(context="garden")
class Counted:
    """Asks for a row that is not there."""

    def on_event(self, event: Planted, rows: Views[int]) -> None:
        rows[event.kind] = rows[event.kind] + 1


@projection(context="garden")
class TwoAsked:
    """Asks for two rows in one line."""

    def on_event(self, event: Planted, rows: Views[int]) -> None:
        rows["all"] = rows[event.kind] + rows["bed"]


@projection(context="garden")
class Looked:
    """Its own dictionary has no such key."""

    def on_event(self, event: Planted, rows: Views[int]) -> None:
        rows["all"] = {}[event.kind]


@projection(context="garden")
class Quiet:
    """Swallows what fails."""

    def on_event(self, event: Planted, rows: Views[int]) -> None:
        with suppress(KeyError):
            rows["rose"] += 1


@projection(context="garden")
class Weeds:
    """Takes another event."""

    def on_event(self, event: Weeded, rows: Views[int]) -> None:
        rows["weeds"] = 1


@projection(context="garden")
class Written:
    """Keeps another row than the one that is expected."""

    def on_event(self, event: Planted, rows: Views[int]) -> None:
        rows[event.kind] = 1


PLANTED = on(Bed, "bed-1", Planted())


def told(make) -> list[str]:
    """What stands between the reason and the pipeline, without lines of source."""
    with pytest.raises(SpecFailure) as caught, a_test():
        make()
    lines = str(caught.value).partition("\n  pipeline")[0].splitlines()[1:]
    return [line.strip().replace("tests/specs/", "") for line in lines if ".py:" not in line or "ran, and" in line]


ASK = 'hint: there is no row "rose": rows.get(event.kind, ...) takes the one to begin with'


def test_a_row_that_is_read_before_it_is_written():
    """The function's failure is told where the row is missed, with how to ask for a row that may not be there."""
    lines = told(lambda: given(Counted, PLANTED).expect_view("rose", 1))
    assert lines == ["Counted.on_event failed:", "rows[event.kind] = rows[event.kind] + 1", "KeyError: 'rose'", ASK]


def test_it_is_said_of_an_error_that_nobody_expected():
    """Where no row is looked at."""
    assert ASK in told(lambda: given().using(Counted).when(Plant()).expect_succeeded())


def test_two_rows_in_one_line():
    """Which of them is not known, so the key is left open."""
    hint = 'hint: there is no row "rose": rows.get(..., ...) takes the one to begin with'
    assert told(lambda: given(TwoAsked, PLANTED).expect_view("all", 1))[-1] == hint


def test_another_key_error():
    """Only rows have `get` with a row to begin with."""
    assert not any("hint" in line for line in told(lambda: given(Looked, PLANTED).expect_view("all", 1)))


def test_a_function_that_wrote_nothing():
    """It is named as one that ran."""
    line = Quiet.on_event.__code__.co_firstlineno
    assert told(lambda: given(Quiet, PLANTED).expect_view("rose", 1)) == [
        f"hint: Quiet.on_event (test_row_hints.py:{line}) ran, and wrote no row"
    ]


def test_a_projection_that_nothing_reached():
    """What it takes; where such events are given, how they reach it."""
    nothing = "hint: nothing reached Weeds, which takes Weeded"
    deliver = ": given(..., deliver=True) delivers what is given, and so does given(Weeds, ...)"
    assert told(lambda: given().using(Weeds).when(Plant()).expect_view("weeds", 1)) == [nothing]
    given_late = spec(Bed).using(Weeds).given(on(Bed, "bed-2", Weeded()))
    assert told(lambda: given_late.when(Plant()).expect_view("weeds", 1)) == [nothing + deliver]

    given(Weeds, on(Bed, "bed-2", Weeded())).expect_view("weeds", 1)
    spec(Bed).using(Weeds).given(on(Bed, "bed-2", Weeded()), deliver=True).when(Plant()).expect_view("weeds", 1)


def test_another_row():
    """Where the projection keeps rows, who made them is told, and how the only one would be expected."""
    lines = told(lambda: given(Written, PLANTED).expect_view("tulip", 1))
    assert lines == ['if it is right: .expect_view("rose", 1)']


class Bedded(BaseModel):
    """How many beds there are."""

    beds: int = 0


@projection(context="garden")
class Beds:
    """Counts what was planted."""

    def on_event(self, event: Planted, rows: Views[Bedded]) -> None:
        rows["all"] = Bedded(beds=rows.get("all", Bedded()).beds + 1)


@pytest.mark.parametrize(
    "look",
    [
        lambda made: made.expect_view("all", beds=2),
        lambda made: made.expect_view("all", Bedded(beds=2)),
        lambda made: made.expect_view("all", lambda row: row.beds == 2),
    ],
    ids=["fields", "value", "function"],
)
def test_a_row_of_a_projection_that_never_heard_of_what_was_given(look):
    """It counts from there on only: how it hears of the rest."""
    hint = "hint: Beds never heard of 1 event that was given (Planted): given(..., deliver=True) delivers it"
    before = spec(Bed).using(Beds)

    assert hint in told(lambda: look(before.given(on(Bed, "bed-2", Planted())).when(Plant())))
    heard = told(lambda: look(before.given(on(Bed, "bed-1"), on(Bed, "bed-3")).when(Plant())))
    assert not any("hint" in line for line in heard)
    look(before.given(on(Bed, "bed-2", Planted()), deliver=True).when(Plant()))
