"""Prepare keys: reservations with a time to live, their two-step moves, and their declared form."""

from __future__ import annotations

import json
from typing import Any, Protocol

import pytest
from pydantic import BaseModel

from tests.runtime.downstream.shop import Bench
from wowspec import (
    Clock,
    DefinitionError,
    PreparedValue,
    PrepareKey,
    aggregate_root,
    create_aggregate,
    on_command,
    preparable_key,
)
from wowspec.errors import DecodeError, IllegalArgumentError, IllegalStateError
from wowspec.faults.values import Fault
from wowspec.runtime.branch import branch
from wowspec.runtime.prepare import FOREVER, InMemoryPrepareKey, read_prepared_value, write_prepared_value
from wowspec.world.points import EVENT_STORE_APPEND, FaultKind


class Setting:
    """Prepare keys with a clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000
        self.keys: InMemoryPrepareKey[str] = InMemoryPrepareKey("username", lambda: self.now)

    def do(self, coro: Any) -> Any:
        """The result of a coroutine that never waits."""
        try:
            coro.send(None)
        except StopIteration as stop:
            return stop.value
        raise AssertionError("it waited")


@pytest.fixture
def setting():
    """Keys without reservations at time 1000."""
    return Setting()


@pytest.mark.clause("PRK-001")
@pytest.mark.parametrize(
    ("ttl_at", "is_forever", "is_expired"),
    [
        (999, False, True),
        (1_000, False, False),
        (1_001, False, False),
        (FOREVER - 1, False, False),
        (FOREVER, True, False),
    ],
)
def test_time_to_live(ttl_at, is_forever, is_expired):
    """A value is expired when its instant is before now; from 148204944000000 on it never is."""
    value = PreparedValue("ann", ttl_at)

    assert value.is_forever is is_forever
    assert value.is_expired(1_000) is is_expired
    assert FOREVER == 148_204_944_000_000
    assert not PreparedValue("ann", FOREVER).is_expired(FOREVER + 1)


@pytest.mark.clause("PRK-002", "TCK-014")
def test_prepare(setting):
    """A free or expired key can be reserved; a live one cannot, not even for an equal value."""
    keys, do = setting.keys, setting.do

    assert do(keys.prepare("ann", PreparedValue("a-1", 2_000)))
    assert not do(keys.prepare("ann", PreparedValue("a-1", 9_000)))
    assert do(keys.get_value("ann")) == PreparedValue("a-1", 2_000)
    setting.now = 2_001
    assert do(keys.prepare("ann", "a-2"))
    assert do(keys.get_value("ann")) == PreparedValue("a-2", FOREVER)


@pytest.mark.clause("PRK-003")
def test_get(setting):
    """`get` hides what has expired, `get_value` does not."""
    keys, do = setting.keys, setting.do
    do(keys.prepare("ann", PreparedValue("a-1", 2_000)))

    assert do(keys.get("ann")) == "a-1"
    setting.now = 2_001
    assert do(keys.get("ann")) is None
    assert do(keys.get_value("ann")) == PreparedValue("a-1", 2_000)
    assert do(keys.get("bob")) is None
    assert do(keys.get_value("bob")) is None


@pytest.mark.clause("PRK-004")
def test_rollback(setting):
    """A live entry is released whatever its value; of a missing or expired one the answer is no."""
    keys, do = setting.keys, setting.do
    do(keys.prepare("ann", PreparedValue("a-1", 2_000)))
    do(keys.prepare("bob", "b-1"))
    setting.now = 2_001

    assert not do(keys.rollback("nobody"))
    assert not do(keys.rollback("ann"))
    assert do(keys.rollback("bob"))
    assert do(keys.get_value("bob")) is None


@pytest.mark.clause("PRK-005", "TCK-014")
def test_rollback_by_value(setting):
    """With a value, only an entry of that value is released, expired or not."""
    keys, do = setting.keys, setting.do
    do(keys.prepare("ann", PreparedValue("a-1", 2_000)))
    setting.now = 2_001

    assert not do(keys.rollback("nobody", "a-1"))
    assert not do(keys.rollback("ann", "a-2"))
    assert do(keys.rollback("ann", "a-1"))
    assert do(keys.get_value("ann")) is None


@pytest.mark.clause("PRK-006", "PRK-007", "TCK-014")
def test_reprepare(setting):
    """What is stored is replaced, time to live included: if it equals the old value, where one is given."""
    keys, do = setting.keys, setting.do
    do(keys.prepare("ann", "a-1"))

    assert not do(keys.reprepare("ann", "a-2", old="a-0"))
    assert do(keys.get("ann")) == "a-1"
    assert do(keys.reprepare("ann", PreparedValue("a-2", 5_000), old="a-1"))
    assert do(keys.get_value("ann")) == PreparedValue("a-2", 5_000)
    assert do(keys.reprepare("ann", "a-3"))
    assert do(keys.get_value("ann")) == PreparedValue("a-3", FOREVER)
    assert not do(keys.reprepare("bob", "b-1"))
    assert not do(keys.reprepare("bob", "b-1", old="b-0"))
    assert do(keys.get_value("bob")) is None


@pytest.mark.clause("PRK-008")
def test_move(setting):
    """The new key is reserved, then the old one released; a taken new key leaves everything as it was."""
    keys, do = setting.keys, setting.do
    do(keys.prepare("ann", "a-1"))
    do(keys.prepare("bob", "b-1"))

    assert not do(keys.move("ann", "a-1", "bob", "a-1"))
    assert do(keys.get("ann")) == "a-1"
    assert do(keys.move("ann", "a-1", "anna", PreparedValue("a-1", 5_000)))
    assert do(keys.get_value("ann")) is None
    assert do(keys.get_value("anna")) == PreparedValue("a-1", 5_000)


@pytest.mark.clause("PRK-008", "TCK-014")
def test_move_that_fails(setting):
    """Equal keys are refused by the call; a wrong old value is an illegal state, and the new key is free again."""
    keys, do = setting.keys, setting.do
    do(keys.prepare("ann", "a-1"))

    with pytest.raises(IllegalArgumentError, match="cannot be moved to itself"):
        keys.move("ann", "a-1", "ann", "a-2")
    with pytest.raises(IllegalStateError, match="does not hold 'a-9'"):
        do(keys.move("ann", "a-9", "anna", "a-1"))
    assert do(keys.get("ann")) == "a-1"
    assert do(keys.get_value("anna")) is None


async def refuse(_: bool) -> None:
    """Fails when it is awaited."""
    raise KeyError("refused")


def refuse_at_once(_: bool) -> Any:
    """Fails when it is called."""
    raise KeyError("refused")


@pytest.mark.clause("PRK-009")
def test_using(setting):
    """The rest is told whether the key was reserved, and goes on in either case; its result comes through."""
    keys, do = setting.keys, setting.do

    async def told(is_prepared: bool) -> str:
        return f"prepared: {is_prepared}"

    assert do(keys.using("ann", "a-1", told)) == "prepared: True"
    assert do(keys.using("ann", "a-2", told)) == "prepared: False"
    assert do(keys.get("ann")) == "a-1"


@pytest.mark.clause("PRK-009", "TCK-014")
@pytest.mark.parametrize("then", [refuse, refuse_at_once])
def test_using_that_fails(setting, then):
    """A failure releases the key if this call had reserved it, and no other; the failure itself comes through."""
    keys, do = setting.keys, setting.do

    with pytest.raises(KeyError, match="refused"):
        do(keys.using("ann", "a-1", then))
    assert do(keys.get_value("ann")) is None

    do(keys.prepare("ann", "a-1"))
    with pytest.raises(KeyError, match="refused"):
        do(keys.using("ann", "a-1", then))
    assert do(keys.get("ann")) == "a-1"


@pytest.mark.clause("PRK-010", "DOC-005")
def test_a_failing_release_replaces_the_error(setting, monkeypatch):
    """If the release raises, that is the error; if it only answers no, the first error stays."""
    keys, do = setting.keys, setting.do

    async def no(*_: Any) -> bool:
        return False

    async def down(*_: Any) -> bool:
        raise ConnectionError("down")

    monkeypatch.setattr(InMemoryPrepareKey, "rollback", no)
    with pytest.raises(KeyError, match="refused"):
        do(keys.using("ann", "a-1", refuse))
    monkeypatch.setattr(InMemoryPrepareKey, "rollback", down)
    with pytest.raises(ConnectionError, match="down"):
        do(keys.using("bob", "b-1", refuse))


@preparable_key()
class Usernames(PrepareKey[str], Protocol):
    """Has a method of its own, and another way to get."""

    async def owner_of(self, name: str) -> str:
        """Who has a name."""
        return f"owner {await self.get(name)}"

    async def get(self, key: str) -> str | None:
        """In lower case."""
        return await super().get(key.lower())


@preparable_key("mail_address")
class Mails(PrepareKey[str], Protocol): ...


@pytest.mark.clause("PRK-011")
def test_a_declared_prepare_key():
    """A declared class is supplied by the world, under its name as written; its own methods run on it."""
    bench = Bench()
    usernames, mails = bench.runtime.prepare_keys.of(Usernames), bench.runtime.prepare_keys.of(Mails)

    assert (usernames.name, mails.name) == ("Usernames", "mail_address")
    assert Usernames in type(usernames).__mro__
    assert bench.run(usernames.prepare("ann", "a-1"))
    assert bench.run(usernames.owner_of("ANN")) == "owner a-1"
    assert bench.run(mails.get("ann")) is None
    assert bench.run(bench.runtime.prepare_keys.named("Usernames").get("ann")) == "a-1"
    with pytest.raises(IllegalArgumentError, match="moved to itself"):
        usernames.move("ann", "a-1", "ann", "a-1")


@pytest.mark.clause("PRK-011")
def test_a_declared_prepare_key_does_all_that_keys_do():
    """Every operation reaches the keys that the world keeps under the name."""
    bench = Bench()
    mails, run = bench.runtime.prepare_keys.of(Mails), bench.run

    async def told(is_prepared):
        return is_prepared

    assert run(mails.prepare("a@x", "a-1"))
    assert run(mails.reprepare("a@x", PreparedValue("a-2", 7), old="a-1"))
    assert run(mails.get_value("a@x")) == PreparedValue("a-2", 7)
    assert run(mails.move("a@x", "a-2", "b@x", "a-2"))
    assert run(mails.get("b@x")) == "a-2"
    assert run(mails.rollback("b@x"))
    assert run(mails.using("b@x", "a-3", told))


@pytest.mark.clause("PRK-011")
def test_only_prepare_keys_are_declared():
    """Another class under @preparable_key is an error of its definition."""
    with pytest.raises(DefinitionError, match="Thing, which is no PrepareKey"):

        @preparable_key("thing")
        class Thing: ...


@create_aggregate
class Register(BaseModel):
    id: str
    name: str
    fails: bool = False


class Registered(BaseModel):
    name: str


class UserState(BaseModel):
    id: str

    def on_sourcing(self, event: Registered) -> None: ...


@aggregate_root(context="shop")
class User:
    def __init__(self, state: UserState) -> None:
        self.state = state

    @on_command
    async def register(self, command: Register, usernames: Usernames, clock: Clock) -> Registered:
        async def decide(is_free: bool) -> Registered:
            if not is_free:
                raise IllegalStateError("the name is taken")
            if command.fails:
                raise KeyError("no")
            return Registered(name=command.name)

        until = PreparedValue(self.state.id, clock.now_millis() + 60_000)
        return await usernames.using(command.name, until, decide)


@pytest.mark.clause("PRK-009", "PRK-012")
def test_a_handler_reserves():
    """A handler's own failure releases the name; a failing append afterwards does not: it stays until it expires."""
    bench = Bench(User)
    usernames = bench.runtime.prepare_keys.of(Usernames)

    assert bench.send(Register(id="u-1", name="ann", fails=True)) == "BadRequest"
    assert bench.run(usernames.get("ann")) is None

    bench.runtime.arm().arm(Fault(EVENT_STORE_APPEND, FaultKind.FAIL))
    assert bench.send(Register(id="u-2", name="ann")) == "BadRequest"
    assert bench.run(usernames.get("ann")) == "u-2"
    assert bench.send(Register(id="u-3", name="ann")) == "IllegalState"

    bench.world.clock.move_to(bench.world.clock.nanos + 60_001_000_000)
    assert bench.send(Register(id="u-3", name="ann")) == "Ok"
    assert bench.run(usernames.get("ann")) == "u-3"


def test_a_branch_has_reservations_of_its_own():
    """After a branch neither side sees what the other reserves, and each has its own time."""
    bench = Bench(User)
    bench.send(Register(id="u-1", name="ann"))
    other = branch(bench.runtime)
    there = other.prepare_keys.of(Usernames)
    other.world.clock.move_to(other.world.clock.nanos + 60_001_000_000)

    assert bench.run(bench.runtime.prepare_keys.of(Usernames).get("ann")) == "u-1"
    assert bench.run(there.get("ann")) is None
    assert bench.run(there.get_value("ann")).value == "u-1"
    assert bench.run(there.prepare("ann", "u-2"))
    assert bench.run(bench.runtime.prepare_keys.of(Usernames).get("ann")) == "u-1"


@pytest.mark.clause("SER-015")
def test_the_json_of_a_prepared_value():
    """The value and its end, under the runtime's names; whatever else is known of it can be computed."""
    text = write_prepared_value(PreparedValue("ann", 7))
    assert json.loads(text) == {"value": "ann", "ttlAt": 7}
    assert read_prepared_value(text, str) == PreparedValue("ann", 7)
    with pytest.raises(DecodeError, match="ttlAt"):
        read_prepared_value('{"value": "ann"}', str)
