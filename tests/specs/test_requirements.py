"""Names that stand for members: stages, and states of a command aggregate."""

from __future__ import annotations

from typing import get_args

import pytest

from wowspec import PROCESSED, SpecError, given
from wowspec.messages.stages import CommandStage
from wowspec.runtime.aggregate import CommandState
from wowspec.specs.requirements import CommandStateName, StageName

from .language_domain import CreateOrder


def test_type_checkers_know_the_names():
    """The names that they know are those of the members."""
    assert get_args(StageName) == tuple(CommandStage.__members__)
    assert get_args(CommandStateName) == tuple(CommandState.__members__)


def test_a_name_stands_for_its_member():
    """A stage may be named, and the state of a command aggregate may be the member."""
    (
        given()
        .when(CreateOrder(id="o-1"))
        .expect_stage("PROCESSED")
        .expect_stage(PROCESSED)
        .expect_notified("PROCESSED", times=1)
        .expect_command_state("STORED")
        .expect_command_state(CommandState.STORED)
    )


@pytest.mark.parametrize(
    ("expect", "what", "why", "instead"),
    [
        (
            lambda ran: ran.expect_stage("PROCESED"),
            'expect_stage("PROCESED")',
            "a stage is one of SENT, PROCESSED, SNAPSHOT, PROJECTED, EVENT_HANDLED, SAGA_HANDLED",
            "from wowspec import PROCESSED; expect_stage(PROCESSED)",
        ),
        (
            lambda ran: ran.expect_notified(CommandState.STORED),
            "expect_notified(CommandState.STORED)",
            "a stage is one of SENT, PROCESSED, SNAPSHOT, PROJECTED, EVENT_HANDLED, SAGA_HANDLED",
            "from wowspec import PROCESSED; expect_notified(PROCESSED)",
        ),
        (
            lambda ran: ran.expect_command_state("EXPIRE"),
            "expect_command_state('EXPIRE')",
            "no command aggregate is ever in such a state",
            "expect_command_state('EXPIRED')",
        ),
    ],
    ids=["stage", "notified", "command state"],
)
def test_other_names_are_refused(expect, what, why, instead):
    """A name of none is refused, with the nearest."""
    with pytest.raises(SpecError) as caught:
        expect(given().when(CreateOrder(id="o-1")).expect_succeeded())

    assert str(caught.value) == f"{what}\n  why: {why}\n  instead: {instead}"
