"""The same defects, found in plain specs of a suite by nothing but the command line."""

from __future__ import annotations

import pytest

from tests.plugin.test_entry import run_pytest

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

SUITE = """
from tests.exploration.defects import {module}
from wowspec import spec


def test_it():
    run = spec().using({using}){given}.with_profile("{profile}").when({when}).run()
    assert run.succeeded
"""

FOUND = [
    pytest.param(
        ("sales", "sales.defective", "", "kafka", 'sales.Sell(id="s-1", amount=3)'),
        "Sell>Sold/event.deliver:AddsUp.sold@1=duplicate",
        id="a projection that is not idempotent",
    ),
    pytest.param(
        (
            "payments",
            "payments.Bill",
            ".inject_factory(provider=payments.Provider)",
            "in_memory",
            'payments.Issue(id="b")',
        ),
        None,
        id="nothing was charged yet",
    ),
    pytest.param(
        (
            "payments",
            "payments.Bill",
            '.inject_factory(provider=payments.Provider).given(payments.Issue(id="b"))',
            "in_memory",
            'payments.Pay(id="b")',
        ),
        "Pay/event_store.append@1=timeout",
        id="a retry that charges twice",
    ),
    pytest.param(
        ("sales", "sales.corrected", "", "kafka", 'sales.Sell(id="s-1", amount=3)'), None, id="an idempotent projection"
    ),
]


def suite(module: str, using: str, given: str, profile: str, when: str) -> str:
    """A suite of one spec."""
    return SUITE.format(module=module, using=using, given=given, profile=profile, when=when)


@pytest.mark.parametrize(("parts", "plan"), FOUND)
def test_a_sweep_finds_defects_in_plain_specs(tmp_path, parts, plan):
    """The spec passes alone; swept it fails with the plan, or passes where nothing is wrong."""
    (tmp_path / "test_suite.py").write_text(suite(*parts))

    plain = run_pytest(tmp_path)
    swept = run_pytest(tmp_path, "--wowspec-faults=sweep")

    assert plain.returncode == 0, plain.stdout
    assert swept.returncode == (0 if plan is None else 1), swept.stdout
    if plan is not None:
        assert plan in swept.stdout


def test_what_the_runtime_is_known_for_fails_a_strict_sweep(tmp_path):
    """It is told of in any case, and fails only where somebody asks for it."""
    parts = ("orders", "orders.Order", "", "in_memory", 'orders.PlaceOrder(id="o-1")')
    (tmp_path / "test_suite.py").write_text(suite(*parts))

    swept = run_pytest(tmp_path, "--wowspec-faults=sweep")
    strict = run_pytest(tmp_path, "--wowspec-faults=sweep", "--wowspec-strict")

    assert swept.returncode == 0, swept.stdout
    assert "known to the runtime" in swept.stdout
    assert strict.returncode == 1
    assert "PlaceOrder/event_store.append@1=ack_lost" in strict.stdout
    assert "PlaceOrder/domain_event_bus.send@1=fail" in strict.stdout
