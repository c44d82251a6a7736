"""Remarks on commands that name no instance: spoken where another one was meant, and silent elsewhere."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from wowspec import SpecFailure, aggregate_root, create_aggregate, given, on, on_command, on_sourcing, spec

from .ending import a_test


@create_aggregate
class Issue(BaseModel):
    ticket_id: str
    plate: str = "P"


class Stamp(BaseModel):
    ticket_id: str = "t-1"


class Issued(BaseModel):
    pass


class Stamped(BaseModel):
    pass


class PassState(BaseModel):
    id: str
    stamps: int = 0

    @on_sourcing
    def stamped(self, event: Stamped) -> None:
        self.stamps += 1


@aggregate_root(context="parking")
class Pass:
    def __init__(self, state: PassState) -> None:
        self.state = state

    @on_command
    def issue(self, command: Issue) -> Issued:
        return Issued()

    @on_command
    def stamp(self, command: Stamp) -> Stamped:
        return Stamped()


ISSUE = Issue(ticket_id="t-1")
MARK = "rename its field ticket_id to id, or write ticket_id: Annotated[str, AggregateId()]"
ISSUE_IS_NEW = "Issue names no instance, so that a new id was made for it: "
STAMP_IS_NEW = "Stamp names no instance, so that a new id was made for it: "
GIVE = "give it a field id, or say when(..., aggregate_id=...)"
ELSEWHERE = "Stamp went to pass(t-2), for nothing says that ticket_id is its id: "
BOTH = (on(Pass, "t-1", Issued()), on(Pass, "t-2", Issued()))

MISTAKES = {
    "the id of the state": (lambda: spec(Pass).when(ISSUE).expect_state(id="t-1"), [ISSUE_IS_NEW + MARK]),
    "an id that is nowhere": (lambda: spec(Pass).when(ISSUE).expect_state(id="t-9"), [ISSUE_IS_NEW + GIVE]),
    "the state of that instance": (
        lambda: spec(Pass).when(ISSUE).expect_state(on(Pass, "t-1"), stamps=0),
        [ISSUE_IS_NEW + MARK],
    ),
    "its history": (
        lambda: spec(Pass).when(ISSUE).expect_stored(on(Pass, "t-1"), Issued()),
        [ISSUE_IS_NEW + MARK],
    ),
    "the history of an instance that was given": (
        lambda: given(*BOTH).when(Stamp()).expect_stored(on(Pass, "t-1"), Issued(), Stamped()),
        [ELSEWHERE + MARK],
    ),
    "a command that begins nothing": (
        lambda: spec(Pass).when(Stamp()).expect_events(Stamped()),
        [STAMP_IS_NEW + GIVE, None],
    ),
    "another instance, of which the command says nothing": (
        lambda: spec(Pass).when(ISSUE).expect_state(on(Pass, "t-9"), stamps=0),
        [],
    ),
    "another field of the state": (
        lambda: spec(Pass).when(ISSUE).expect_state(stamps=1),
        ["Issued was stored, but PassState has no @on_sourcing for it"],
    ),
    "an id that the spec gives": (
        lambda: spec(Pass).when(ISSUE, aggregate_id="t-2").expect_state(id="t-9"),
        [],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_command_without_an_id(name):
    """It is said where another instance was meant than the command went to."""
    make, says = MISTAKES[name]
    with pytest.raises(SpecFailure) as caught, a_test():
        make()

    text = str(caught.value).partition("  pipeline")[0]
    hints = [line.removeprefix("  hint: ") for line in text.splitlines() if "hint:" in line]
    assert len(hints) == len(says)
    assert [hint for hint, said in zip(hints, says, strict=True) if said is not None and hint != said] == []
    # What an id happens to be in one run is nothing to expect.
    assert "if it is right" not in text or name == "an id that the spec gives"
