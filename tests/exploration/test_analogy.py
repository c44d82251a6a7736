"""What breaks for the witness where faults strike in the same places, asked for one set of places at a time."""

from __future__ import annotations

from wowspec.exploration.analogy import witness_laws
from wowspec.exploration.run_laws import RUN_LAW_BY_NAME
from wowspec.exploration.witness import Place
from wowspec.specs.session import Profile

#: Without what the witness itself says must hold in the end.
LAWS = frozenset(RUN_LAW_BY_NAME) - {"eventually"}
APPEND = Place("command", "event_store.append", "ack_lost_permanent")
CHECK = Place("command", "request_id.check", "fail")


def test_what_the_runtime_is_known_for_is_found():
    """A lost reply for good leaves a stream that is never published."""
    assert "publication" in witness_laws((APPEND,), LAWS, Profile())


def test_nothing_is_known_where_nothing_breaks():
    """A command that is refused at the gateway breaks no law; no fault at all breaks none either."""
    assert witness_laws((CHECK,), LAWS, Profile()) == frozenset()
    assert witness_laws((), LAWS, Profile()) == frozenset()


def test_two_places_are_struck_together():
    """Both faults strike in one plan, whichever comes first; only the laws that are asked for are told."""
    found = witness_laws(tuple(sorted((APPEND, CHECK))), frozenset({"publication", "order"}), Profile())

    assert found == {"publication"}


def test_a_place_that_the_witness_has_not_is_known_for_nothing():
    """No plan of the witness strikes in a service of somebody else's."""
    assert witness_laws((APPEND, Place("command", "service:bank.charge", "fail")), LAWS, Profile()) == frozenset()
