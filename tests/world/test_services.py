"""Services by type, then by name."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import pytest

from wowspec.errors import IllegalArgumentError
from wowspec.world.services import ServiceProvider


class Inventory:
    """A service."""


class FakeInventory(Inventory):
    """A service that stands in for another."""


@runtime_checkable
class Charges(Protocol):
    """What a payment service does."""

    def charge(self) -> None:
        """Charge."""


class Payment:
    """A service that does what the protocol says."""

    def charge(self) -> None:
        """Charge."""


def provider(*services):
    """A provider of these services."""
    made = ServiceProvider()
    for service in services:
        made.register(service)
    return made


@pytest.mark.clause("CMD-300", "EVT-098")
def test_exact_type_comes_first():
    """The exact type wins over a subtype, whichever was registered first."""
    plain, fake = Inventory(), FakeInventory()

    assert provider(fake, plain).by_type(Inventory) is plain
    assert provider(fake).by_type(Inventory) is fake
    assert provider(plain).by_type(FakeInventory) is None


def test_a_protocol_finds_who_follows_it():
    """A runtime-checkable protocol is answered by an instance that has its methods."""
    payment = Payment()

    assert provider(Inventory(), payment).by_type(Charges) is payment


@pytest.mark.clause("CMD-300")
def test_by_name():
    """The default name is the class's in snake case; a given one replaces it."""
    fake = FakeInventory()
    named = ServiceProvider()
    named.register(fake, name="stock")

    assert provider(fake).by_name("fake_inventory") is fake
    assert named.by_name("stock") is fake
    assert named.by_name("fake_inventory") is None


def test_required_service_that_is_missing():
    """The error of a required service names what is there."""
    services = provider(Payment())

    with pytest.raises(IllegalArgumentError, match="no service of type Inventory; there are: payment: Payment"):
        services.require_type(Inventory)
    with pytest.raises(IllegalArgumentError, match="no service named 'stock'"):
        services.require_name("stock")
    assert services.require_name("payment") is services.require_type(Payment)


def test_a_copy_is_independent():
    """What a copy gains, the original does not have."""
    services = provider(Payment())
    copied = services.copy()
    copied.register(Inventory())

    assert copied.by_type(Payment) is services.by_type(Payment)
    assert services.by_type(Inventory) is None
