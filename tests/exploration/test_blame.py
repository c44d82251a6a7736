"""A correct system is blamed for no more than the witness table says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.exploration.correct import commands, processes, views
from tests.exploration.test_run_laws import explorer_of, sell_kept
from wowspec import Spec
from wowspec.exploration.analogy import known_laws
from wowspec.exploration.explorer import Bounds
from wowspec.exploration.witness import place_of, witness_table
from wowspec.specs.parts import profile_of


def transfer(spec: Spec[Any]) -> Spec[Any]:
    """A process of several steps, in the end complete."""
    request = processes.Transfer(id="t-1", source="a", target="b", amount=5)
    return spec.using(processes.transfers).when(request).always(lambda world: True)


def count(spec: Spec[Any]) -> Spec[Any]:
    """A board."""
    return spec.using(views.board).when(views.Count(id="c-1", by=2)).eventually(lambda world: True)


def post(spec: Spec[Any]) -> Spec[Any]:
    """A service."""
    return spec.using(commands.parcels).inject_factory(tariff=commands.Tariff).when(commands.Post(id="p-1", grams=5))


@pytest.mark.long
@pytest.mark.parametrize("profile", ["in_memory", "kafka"])
@pytest.mark.parametrize("steps", [transfer, count, post, sell_kept], ids=lambda steps: steps.__name__)
def test_a_correct_system_is_blamed_for_what_the_witness_is(steps, profile):
    """Whatever breaks a law in a correct system breaks it for the witness, too."""
    explorer = explorer_of(steps, profile)
    table = {(row.place, row.law) for row in witness_table(profile_of(profile))}
    catalog = explorer.base.played.session.runtime.catalog
    kinds = {metadata.name: metadata.kind for metadata in catalog.processors.values()}
    blamed = []
    for result in explorer.explore(Bounds(depth=1)).results:
        if result.finding is not None:
            known = known_laws(result.finding, kinds, profile_of(profile))
            place = place_of(result.plan.faults[0], kinds)
            for law in result.finding.laws:
                assert (law in known) is ((place, law) in table)
                if law not in known:
                    blamed.append((str(result.plan), law))

    assert blamed == []
