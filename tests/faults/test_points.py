"""Points and verbs of faults as attributes: those of the table, and what is said of others."""

from __future__ import annotations

import pytest

from wowspec import SpecError, faults
from wowspec.faults import PointGroup
from wowspec.world.points import POINTS

GROUPS = {row.name.partition(".")[0] for row in POINTS if row.kinds and not row.part}


@pytest.mark.parametrize("name", sorted(GROUPS))
def test_type_checkers_know_the_points_of_the_table(name):
    """What each group declares for type checkers are the points that it has, as the table says."""
    group = getattr(faults, name)

    assert isinstance(group, PointGroup)
    assert sorted(type(group).__annotations__) == sorted(dir(group))
    assert [getattr(group, point).point for point in dir(group)] == [f"{name}.{point}" for point in dir(group)]


def test_groups_are_those_of_the_table():
    """No group is left out, and none is made up."""
    assert {name for name in faults.__all__ if isinstance(getattr(faults, name), PointGroup)} == GROUPS


@pytest.mark.parametrize(
    ("call", "what", "why", "instead"),
    [
        (
            lambda: faults.store.append,
            "there are no points faults.store",
            "a fault strikes where an effect of the pipeline passes a point of the points table",
            "faults.event_store",
        ),
        (
            lambda: faults.event_store.append.fails(time=2),
            "fails(time=...): a fault has no option 'time'",
            "beside where and how, it says at which visits it strikes, and whose",
            "times=",
        ),
        (
            lambda: faults.event_store.append.rival_appends(object(), whose="a-1"),
            "rival_appends(whose=...): a fault has no option 'whose'",
            "beside where and how, it says at which visits it strikes, and whose",
            "times= or at= or aggregate=",
        ),
        (
            lambda: faults.event_store.append.loses_reply(recoverabel=False),
            "loses_reply(recoverabel=...): a fault has no option 'recoverabel'",
            "beside where and how, it says at which visits it strikes, and whose",
            "recoverable=",
        ),
    ],
    ids=["group", "option", "rival", "reply"],
)
def test_what_is_not_there_is_told_with_what_is(call, what, why, instead):
    """A group or an option that does not exist is refused at its line, with the nearest."""
    with pytest.raises(SpecError) as caught:
        call()

    assert str(caught.value) == f"{what}\n  why: {why}\n  instead: {instead}"


@pytest.mark.parametrize("verb", ["fails", "times_out", "hangs", "loses_reply", "conflicts", "rival_appends"])
def test_every_verb_refuses_other_options(verb):
    """No verb lets an option pass that it does not know."""
    with pytest.raises(SpecError, match=rf"^{verb}\(visit=...\): a fault has no option 'visit'"):
        getattr(faults.event_store.append, verb)(*([object()] if verb == "rival_appends" else []), visit=1)
