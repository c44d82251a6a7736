"""The library as its desk software sees it."""

from __future__ import annotations

import pytest

from wowspec import CommandResultError, CommandStage, DeadlineExceeded, Gateway, faults, on, processed, snapshot

from .domain import Copy, CopyLent, LendCopy, RegisterCopy, ReturnCopy
from .worlds import EMMA, LENT, START, FixedFees

REGISTER = RegisterCopy(id="c-1", isbn=EMMA.isbn, title="Emma")


def test_register_and_lend(gateway: Gateway) -> None:
    """Two calls, and what they left."""
    assert gateway.send_and_wait(REGISTER, wait_for=snapshot()).stage is CommandStage.SNAPSHOT
    gateway.send_and_wait(LendCopy(id="c-1", member_id="m-1"))
    assert gateway.world.state(Copy, "c-1").borrower == "m-1"
    assert gateway.world.stored(Copy, "c-1").types == (type(EMMA), CopyLent)


def test_refusal(gateway: Gateway) -> None:
    """Raised with its result."""
    gateway.world.given(on(Copy, "c-1", EMMA, LENT))
    with pytest.raises(CommandResultError, match="lent to m-1") as caught:
        gateway.send_and_wait(LendCopy(id="c-1", member_id="m-2"))
    assert caught.value.result.error_code == "IllegalState"


def test_services(gateway: Gateway) -> None:
    """Given to the world of the gateway."""
    gateway.world.provide(fees=FixedFees())
    gateway.world.given(on(Copy, "c-1", EMMA, LENT))
    gateway.world.at(START)
    gateway.world.advance(days=40)
    assert gateway.send_and_wait(ReturnCopy(id="c-1")).result["fine"] > 0


def test_unknown(gateway: Gateway) -> None:
    """Nobody knows whether it was stored."""
    gateway.world.arm(faults.event_store.append.hangs())
    with pytest.raises(DeadlineExceeded):
        gateway.send_and_wait(REGISTER, wait_for=processed().with_timeout(seconds=5))


@pytest.mark.asyncio
async def test_async(gateway: Gateway) -> None:
    """As a coroutine, under pytest-asyncio."""
    result = await gateway.aio.send_and_wait(REGISTER)
    assert result.stage is CommandStage.PROCESSED
    with pytest.raises(CommandResultError):
        await gateway.aio.send_and_wait(REGISTER)


@pytest.mark.anyio
async def test_anyio(gateway: Gateway) -> None:
    """As a coroutine, under anyio."""
    result = await gateway.aio.send_and_wait(REGISTER)
    assert result.succeeded
