"""Errors are copied as they are, whatever their constructors take."""

from __future__ import annotations

from typing import Self

import pytest

from wowspec import DomainError
from wowspec.specs.injecting import keep, no_longer_want_kept, want_kept
from wowspec.world.copying import copied_error, deep_copy


class TooEarlyError(DomainError):
    """Takes nothing, and hands on a code and a text."""

    def __init__(self) -> None:
        super().__init__("TooEarly", "come later")


class TakenError(DomainError):
    """Takes who has it; called with its own text it would say another."""

    def __init__(self, guest: str) -> None:
        super().__init__("Taken", f"{guest} has it")


class KeptError(Exception):
    """Takes what it keeps in a slot, and by keyword alone."""

    __slots__ = ("seat",)

    def __init__(self, *, seat: int) -> None:
        super().__init__(f"seat {seat}")
        self.seat = seat


class WilfulError(Exception):
    """Cannot be made without its seat."""

    def __new__(cls, *, seat: int) -> Self:
        return super().__new__(cls, seat)

    def __init__(self, *, seat: int) -> None:
        super().__init__()


class Payments:
    """A service that fails as it is told to."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.by_name = {"first": errors[0]}


@pytest.mark.parametrize(
    "error", [TooEarlyError(), TakenError("Ann"), KeptError(seat=4), ValueError("no"), DomainError("Full", "no room")]
)
def test_an_error_is_copied_as_it_is(error):
    """The same class, arguments and text; changing the copy leaves the error alone."""
    made = copied_error(error)

    assert made is not error
    assert (type(made), made.args, str(made)) == (type(error), error.args, str(error))
    for name in ("error_code", "error_msg", "seat"):
        assert getattr(made, name, None) == getattr(error, name, None)
    made.args = ("other",)
    assert error.args != ("other",)


def test_an_error_that_nobody_can_build_is_shared():
    """Better the error itself than none."""
    error = WilfulError(seat=3)

    assert copied_error(error) is error


def test_a_service_with_errors_is_copied():
    """The copy raises the same, and remembers that one error stands in two places."""
    service = Payments(TakenError("Ann"), TooEarlyError(), WilfulError(seat=3))

    made = deep_copy(service, {})

    assert made is not service
    assert [str(error) for error in made.errors] == [str(error) for error in service.errors]
    assert made.errors[0] is made.by_name["first"]
    assert made.errors[0] is not service.errors[0]


def test_services_are_kept_with_their_errors():
    """What a spec is given can be run again though such an error is in it."""
    want_kept()
    try:
        kept = keep([Payments(TooEarlyError())], {})
    finally:
        no_longer_want_kept()

    assert kept is not None
    assert kept.error is None
