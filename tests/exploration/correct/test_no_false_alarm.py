"""On correct systems nothing is found, whatever their profile lets go wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.exploration.correct import commands, processes, views
from tests.exploration.defects import deliveries
from tests.exploration.defects.sweeping import assert_nothing_found, sweep
from wowspec import Spec

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

Test = Callable[[Spec[Any]], Any]
PROFILES = ["in_memory", "kafka", "mongo"]


def counts(spec: Spec[Any]) -> None:
    """A board over the whole state."""
    (
        spec.using(views.board)
        .when(views.Count(id="c-1", by=2))
        .when(views.Count(id="c-1", by=3))
        .always(lambda world: world.state(views.Counter, "c-1").total in (0, 2, 3, 5))
    )


def enters(spec: Spec[Any]) -> None:
    """A statement by events."""
    book = spec.using(views.statements).given(views.OpenBook(id="b-1"))
    book.when(views.Enter(id="b-1", amount=2)).when(views.Enter(id="b-1", amount=3)).run()


def invites(spec: Spec[Any]) -> None:
    """A letter, posted once."""
    (
        spec.using(views.letters)
        .inject_factory(post=views.PostOffice)
        .when(views.Invite(id="g-1", name="Ada"))
        .always(lambda world: len(world.service("post")) <= 1)
    )


def publishes(spec: Spec[Any]) -> None:
    """A catalogue in two stores."""
    stores = spec.using(views.catalogue).inject_factory(titles=views.Titles, words=views.Words)
    stores.when(views.Publish(id="v-1", title="Great Expectations")).run()


def books(spec: Spec[Any]) -> None:
    """A saga keyed by a business id."""
    (
        spec.using(processes.bookings)
        .when(processes.Book(id="b-1", price=9))
        .always(lambda world: world.aggregate(processes.Invoice, "invoice of b-1").version <= 1)
    )


def transfers(spec: Spec[Any]) -> None:
    """A process of several steps: money is on its way or there, and never twice."""

    def nothing_made_of_nothing(world: Any) -> bool:
        accounts = [world.state(processes.Account, name).balance for name in ("a", "b")]
        return accounts in ([0, 0], [-5, 0], [-5, 5])

    request = processes.Transfer(id="t-1", source="a", target="b", amount=5)
    spec.using(processes.transfers).when(request).always(nothing_made_of_nothing)


def refuses(spec: Spec[Any]) -> None:
    """A saga that takes back what was refused."""
    house = spec.using(processes.theatre).given(processes.Take(id="s-1", ticket_id="other"))
    house.when(processes.BuyTicket(id="t-1", seat="s-1")).run()


def delivers(spec: Spec[Any]) -> None:
    """Two sagas, one after the other."""
    spec.using(deliveries.corrected).when(deliveries.PlaceOrder(id="o-1")).run()


def adds(spec: Spec[Any]) -> None:
    """Commands that know what is done."""
    wishes = (
        spec.using(commands.lists).when(commands.Add(id="l-1", item="ball")).when(commands.Add(id="l-1", item="ball"))
    )
    wishes.when(commands.Add(id="l-1", item="kite")).always(
        lambda world: len(world.state(commands.Wishes, "l-1").items) <= 2
    )


def posts(spec: Spec[Any]) -> None:
    """A service that is asked."""
    spec.using(commands.parcels).inject_factory(tariff=commands.Tariff).when(commands.Post(id="p-1", grams=500)).run()


def spends(spec: Spec[Any]) -> None:
    """A limit that holds whatever fails before."""
    (
        spec.using(commands.purses)
        .when(commands.Fill(id="p-1", amount=5))
        .when(commands.Spend(id="p-1", amount=4))
        .when(commands.Spend(id="p-1", amount=4))
        .expect_error(code="TooLittle")
        .always(lambda world: world.state(commands.Purse, "p-1").holds >= 0)
    )


SYSTEMS: list[Test] = [
    counts,
    enters,
    invites,
    publishes,
    books,
    transfers,
    refuses,
    delivers,
    adds,
    posts,
    spends,
]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.__name__)
def test_nothing_is_found(system, profile):
    """No single fault breaks anything that the runtime is not known for."""
    assert_nothing_found(sweep(system, profile=profile))


@pytest.mark.parametrize("recovery", ["client retry", "resend", "restart", "redelivery"])
@pytest.mark.parametrize("system", [books], ids=lambda system: system.__name__)
def test_no_recovery_makes_a_finding(system, recovery):
    """Whoever sends again what failed, or what was not published, does no harm."""
    assert_nothing_found(sweep(system, profile="kafka", recovery=recovery))


@pytest.mark.parametrize(
    ("system", "profile"),
    [(invites, "kafka"), (publishes, "in_memory"), (books, "in_memory"), (posts, "redis")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_nothing_is_found_by_two_faults(system, profile):
    """Nor do two faults."""
    assert_nothing_found(sweep(system, profile=profile, depth=2))
