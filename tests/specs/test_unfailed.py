"""A command that succeeds where an error is expected: the line that would raise it, and what kept it from that."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pydantic import BaseModel

from wowspec import (
    Clock,
    SpecFailure,
    advance,
    aggregate_root,
    create_aggregate,
    given,
    on,
    on_command,
    on_sourcing,
)

from .ending import a_test


class TooLate(Exception):
    """It closed too long ago."""


class TooLateToAsk(TooLate):
    """A kind of it."""


@create_aggregate
class OpenShop(BaseModel):
    id: str = "s-1"


class Command(BaseModel):
    id: str = "s-1"
    count: int = 0


class Block(Command):
    pass


class Enter(Command):
    pass


class Sell(Command):
    pass


class Check(Command):
    pass


class Ask(Command):
    pass


class Lend(Command):
    pass


class Opened(BaseModel):
    at: datetime | None = None


class Blocked(BaseModel):
    pass


class Sold(BaseModel):
    count: int = 0


class ShopState(BaseModel):
    id: str
    opened_at: datetime | None = None
    blocked: bool = False
    sold: int = 0

    @on_sourcing
    def opened(self, event: Opened) -> None:
        self.opened_at = event.at

    @on_sourcing
    def sold_some(self, event: Sold) -> None:
        self.sold += event.count

    def require_stock(self) -> None:
        if self.sold > 9:
            raise LookupError("sold out")


def require_few(count: int) -> None:
    if count > 5:
        raise OverflowError("too many")


@aggregate_root(context="street")
class Shop:
    def __init__(self, state: ShopState) -> None:
        self.state = state

    @on_command
    def open(self, command: OpenShop) -> Opened:
        return Opened()

    @on_command
    def block(self, command: Block) -> Blocked:
        if self.state.blocked:
            raise ValueError("blocked already")
        return Blocked()

    @on_command
    def enter(self, command: Enter, clock: Clock) -> Sold:
        if self.state.opened_at is not None:
            if clock.now() - self.state.opened_at > timedelta(hours=8):
                raise TooLate("closed")
        elif command.count > 3:
            raise TooLateToAsk("nobody")
        return Sold()

    @on_command
    def sell(self, command: Sell) -> Sold:
        if command.count > 9:
            raise ValueError("too many")
        sold = self.state.sold
        if sold > 9:
            raise ValueError("sold out")
        return Sold(count=command.count)

    @on_command
    def check(self, command: Check) -> Sold:
        self.state.require_stock()
        self._require(command)
        return Sold()

    def _require(self, command: Check) -> None:
        require_few(command.count)

    @on_command
    def ask(self, command: Ask) -> Sold:
        try:
            if self.state.blocked:
                raise KeyError("caught")
        except KeyError:
            pass
        return Sold()

    @on_command
    def lend(self, command: Lend) -> None:
        return None


OPENED = Opened()


def told(make) -> list[str]:
    """What stands between the reason and the pipeline, each place without its line."""
    with pytest.raises(SpecFailure) as caught, a_test():
        make()
    lines = str(caught.value).partition("\n  pipeline")[0].splitlines()[2:]
    return [line.replace("tests/specs/", "").strip() for line in lines]


def line_of(text: str) -> int:
    """The line of this file that has a text."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines].index(text) + 1


GIVE = "instead: give what leads there, mend the condition, or .expect_events(...) if it may succeed"


def test_an_event_that_is_not_sourced():
    """The condition, what it saw, and which event before the command the state does not know."""
    line = line_of('raise ValueError("blocked already")')
    assert told(lambda: given(OPENED, Blocked()).when(Block()).expect_error(ValueError)) == [
        f"not reached: raise ValueError in Shop.block (test_unfailed.py:{line}), if self.state.blocked",
        "self.state.blocked was False",
        GIVE,
        "hint: Blocked came before, but ShopState has no @on_sourcing for it",
    ]


def test_what_the_command_itself_stored_is_no_cause():
    """Only events before it can have led to the error."""
    assert "hint" not in "\n".join(told(lambda: given(OPENED).when(Block()).expect_error(ValueError)))


def test_a_condition_on_time():
    """The time of the command stands beside the fields; conditions that enclose each other are all told."""
    base = given(OpenShop(), advance(hours=2))
    lines = told(lambda: base.when(Enter()).expect_error(TooLate))

    assert lines[0].startswith("not reached: raise TooLate in Shop.enter (test_unfailed.py:")
    assert lines[0].endswith(
        "), if self.state.opened_at is not None and clock.now() - self.state.opened_at > timedelta(hours=8)"
    )
    assert lines[1].startswith("not reached: raise TooLateToAsk in Shop.enter (test_unfailed.py:")
    assert lines[1].endswith("), if self.state.opened_at is None and command.count > 3")
    assert lines[2:4] == ["self.state.opened_at was None", "the time was datetime(2024, 1, 1, 2, 0, tzinfo=UTC)"]


def test_another_instance_has_what_is_missing():
    """What came before of another instance is told where the condition asks the state."""
    lines = told(
        lambda: (
            given(on(Shop, "s-2", OPENED, Sold(count=9)), on(Shop, "s-1", OPENED))
            .when(Sell())
            .expect_error(match="sold")
        )
    )
    assert lines[0].endswith("), if sold > 9")
    assert lines[1] == 'the state was ShopState(id="s-1", opened_at=None)'
    assert lines[-1] == "hint: shop(s-2) had Sold, shop(s-1) had not: Sell went to shop(s-1)"


def test_a_condition_on_the_command_alone():
    """Neither state nor history is told of where only the command counts."""
    lines = told(lambda: given(OPENED, Blocked()).when(Sell()).expect_error(ValueError, match="many"))
    assert lines[0].endswith("), if command.count > 9")
    assert lines[1:] == [GIVE]


def test_raised_in_a_function_that_is_called():
    """Methods of the aggregate and of its state are followed, and functions of the module."""
    base = given(OPENED)
    lines = told(lambda: base.when(Check()).expect_error(LookupError))
    assert "raise LookupError in ShopState.require_stock" in lines[0]
    lines = told(lambda: base.when(Check()).expect_error(OverflowError))
    assert "raise OverflowError in require_few" in lines[0]


def test_nothing_that_could_be_caught_is_told():
    """Within `try` a line may have been reached, so the advice is the plain one."""
    lines = told(lambda: given(OPENED).when(Ask()).expect_error(KeyError))
    place = f"test_unfailed.py:{line_of('def ask(self, command: Ask) -> Sold:')}"
    assert lines == [f"instead: raise KeyError in Shop.ask ({place}), or .expect_events(...) if it may succeed"]


def test_no_such_line():
    """Where nothing raises it, the function that should is named."""
    lines = told(lambda: given(OPENED).when(Lend()).expect_error(TooLate))
    assert lines[0].startswith("instead: raise TooLate in Shop.lend (test_unfailed.py:")
    assert lines[0].endswith("), or .expect_no_events() if it may succeed")
