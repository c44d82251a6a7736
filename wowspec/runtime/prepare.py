"""Prepare keys: unique reservations with a time to live, such as one user name for one account (section 15).

The runtime itself never commits or releases one: it stays until it is rolled back or expires (PRK-012).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import new_class
from typing import Any, Final, Generic, Protocol, TypeVar

from ..errors import DecodeError, DefinitionError, IllegalArgumentError, IllegalStateError
from ..messages.codec import decode, encode
from ..texts import is_blank

V = TypeVar("V")
R = TypeVar("R")
P = TypeVar("P", bound=type)

#: From this epoch millisecond on a value never expires (PRK-001).
FOREVER: Final = 148_204_944_000_000

#: Stands for "whatever is stored".
ANY: Final[Any] = object()

_NAME: Final = "__wowspec_preparable__"


@dataclass(frozen=True, slots=True)
class PreparedValue(Generic[V]):
    """A value, and until when it is reserved: epoch milliseconds, or `FOREVER` (PRK-001)."""

    value: V
    ttl_at: int = FOREVER

    @property
    def is_forever(self) -> bool:
        """Whether it never expires."""
        return self.ttl_at >= FOREVER

    def is_expired(self, now_millis: int) -> bool:
        """Whether its time is over."""
        return not self.is_forever and self.ttl_at < now_millis


def write_prepared_value(value: PreparedValue[Any]) -> bytes:
    """The JSON of a prepared value: `value` and `ttlAt` alone (SER-015)."""
    return encode({"value": value.value, "ttlAt": value.ttl_at})


def read_prepared_value(data: bytes | str, cls: type[V]) -> PreparedValue[V]:
    """The prepared value that a JSON text stands for.

    Raises:
        DecodeError: if the text is none, or its value not of this class.
    """
    tree = decode(dict[str, Any], data)
    if not isinstance(tree.get("ttlAt"), int) or "value" not in tree:
        message = f"a prepared value has value and ttlAt, a whole number; got {', '.join(tree) or 'neither'}"
        raise DecodeError(message)
    return PreparedValue(decode(cls, encode(tree["value"])), tree["ttlAt"])


class PrepareKey(Protocol[V]):
    """Reserves text keys, each for one value. `value` may be the value itself, which then never expires."""

    @property
    def name(self) -> str:
        """What the keys are, such as `username`."""
        ...

    async def prepare(self, key: str, value: V | PreparedValue[V]) -> bool:
        """Reserve a key that is free or has expired; False, and nothing changes, for any other (PRK-002)."""
        ...

    async def get(self, key: str) -> V | None:
        """The value of a reservation that has not expired (PRK-003)."""
        ...

    async def get_value(self, key: str) -> PreparedValue[V] | None:
        """What is stored, expired or not (PRK-003)."""
        ...

    async def rollback(self, key: str, value: V = ...) -> bool:
        """Release a key: if it holds `value`, expired or not; without one, if it has not expired (PRK-004, PRK-005)."""
        ...

    async def reprepare(self, key: str, new: V | PreparedValue[V], *, old: V = ...) -> bool:
        """Replace what is stored, if it is `old` where that is given; False for a free key (PRK-006, PRK-007)."""
        ...

    def move(self, old_key: str, old: V, new_key: str, new: V | PreparedValue[V]) -> Awaitable[bool]:
        """Reserve a new key, then release the old one by its value; two steps, not one (PRK-008).

        Raises:
            IllegalArgumentError: at once, if the keys are equal.
            IllegalStateError: if the old key does not hold the old value; the new key is released again.
        """
        ...

    async def using(self, key: str, value: V | PreparedValue[V], then: Callable[[bool], Awaitable[R]]) -> R:
        """Reserve, then go on, told whether the key was reserved; what goes wrong there releases the key (PRK-009).

        Raises:
            Exception: what `then` raised, or what the release raised in its place (PRK-010).
        """
        ...


#: What a prepare key can do; a declared one hands these on.
OPERATIONS: Final = ("prepare", "get", "get_value", "rollback", "reprepare", "move", "using")


class InMemoryPrepareKey(Generic[V]):
    """Reservations in memory, on the time of a world.

    Args:
        name: what the keys are.
        now: gives the time in epoch milliseconds.
    """

    __slots__ = ("_now", "_stored", "name")

    def __init__(self, name: str, now: Callable[[], int]) -> None:
        self.name: str = name
        self._now = now
        self._stored: dict[str, PreparedValue[V]] = {}

    def take_over(self, other: InMemoryPrepareKey[V]) -> None:
        """Keep what another one keeps; values are shared."""
        self._stored = other._stored.copy()

    async def prepare(self, key: str, value: V | PreparedValue[V]) -> bool:
        """See `PrepareKey.prepare`."""
        stored = self._stored.get(key)
        if stored is not None and not stored.is_expired(self._now()):
            return False
        self._stored[key] = _prepared(value)
        return True

    async def get(self, key: str) -> V | None:
        """See `PrepareKey.get`."""
        stored = self._stored.get(key)
        return None if stored is None or stored.is_expired(self._now()) else stored.value

    async def get_value(self, key: str) -> PreparedValue[V] | None:
        """See `PrepareKey.get_value`."""
        return self._stored.get(key)

    async def rollback(self, key: str, value: V = ANY) -> bool:
        """See `PrepareKey.rollback`."""
        stored = self._stored.get(key)
        if stored is None:
            return False
        released = not stored.is_expired(self._now()) if value is ANY else stored.value == value
        if released:
            del self._stored[key]
        return released

    async def reprepare(self, key: str, new: V | PreparedValue[V], *, old: V = ANY) -> bool:
        """See `PrepareKey.reprepare`."""
        stored = self._stored.get(key)
        if stored is None or (old is not ANY and stored.value != old):
            return False
        self._stored[key] = _prepared(new)
        return True

    def move(self, old_key: str, old: V, new_key: str, new: V | PreparedValue[V]) -> Awaitable[bool]:
        """See `PrepareKey.move`."""
        return move(self, old_key, old, new_key, new)

    async def using(self, key: str, value: V | PreparedValue[V], then: Callable[[bool], Awaitable[R]]) -> R:
        """See `PrepareKey.using`."""
        return await using(self, key, value, then)


def _prepared(value: V | PreparedValue[V]) -> PreparedValue[V]:
    return value if isinstance(value, PreparedValue) else PreparedValue(value)


def move(keys: PrepareKey[V], old_key: str, old: V, new_key: str, new: V | PreparedValue[V]) -> Awaitable[bool]:
    """`PrepareKey.move` for any backend, from its other operations."""
    if old_key == new_key:
        message = f"a key cannot be moved to itself: {old_key!r} of {keys.name}; reprepare(key, new, old=...) replaces"
        raise IllegalArgumentError(message)
    return _move(keys, old_key, old, new_key, _prepared(new))


async def _move(keys: PrepareKey[V], old_key: str, old: V, new_key: str, new: PreparedValue[V]) -> bool:
    if not await keys.prepare(new_key, new):
        return False
    if await keys.rollback(old_key, old):
        return True
    await keys.rollback(new_key, new.value)
    message = f"{old_key!r} of {keys.name} does not hold {old!r}, so it cannot be moved to {new_key!r}"
    raise IllegalStateError(message)


async def using(keys: PrepareKey[V], key: str, value: V | PreparedValue[V], then: Callable[[bool], Awaitable[R]]) -> R:
    """`PrepareKey.using` for any backend, from its other operations."""
    reserved = _prepared(value)
    is_prepared = await keys.prepare(key, reserved)
    try:
        return await then(is_prepared)
    except Exception:
        if is_prepared:
            await keys.rollback(key, reserved.value)
        raise


# ------------------------------------------------------------------------------------------------ declared prepare keys


def preparable_key(name: str = "") -> Callable[[P], P]:
    """Class decorator: handlers may ask for this kind of prepare key by its type, and the world supplies it (PRK-011).

    `@preparable_key("username") class Usernames(PrepareKey[str], Protocol): ...`. Methods of the class itself are kept.

    Args:
        name: of the keys; blank means the class's own name, as it is written.
    """

    def declare(cls: P) -> P:
        if PrepareKey not in getattr(cls, "__mro__", ()):
            shown = getattr(cls, "__name__", repr(cls))
            raise DefinitionError(
                f"@preparable_key stands on {shown}, which is no PrepareKey",
                why="the world supplies an object that has the operations of one",
                instead=f"class {shown}(PrepareKey[str], Protocol): ...",
            )
        type.__setattr__(cls, _NAME, cls.__name__ if is_blank(name) else name)
        return cls

    return declare


def prepare_key_name(cls: type) -> str | None:
    """The name that a class was declared under; None if it was not."""
    name = vars(cls).get(_NAME)
    return name if isinstance(name, str) else None


def prepare_key_proxy(cls: type, keys: PrepareKey[Any]) -> Any:
    """An object of a declared class; what that class does not do itself, the keys do, and raise as it is (PRK-011)."""
    members: dict[str, Any] = {name: _handing_on(getattr(keys, name)) for name in OPERATIONS}
    members["name"] = property(lambda _: keys.name)
    # Behind the declared class and before the protocol, so that super() of its own methods reaches the keys as well.
    delegate = new_class("Delegate", (PrepareKey,), exec_body=lambda space: space.update(members))
    return new_class(cls.__name__, (cls, delegate))()


def _handing_on(operation: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _self, *args, **options: operation(*args, **options)


class PrepareKeys:
    """The prepare keys of a world by name.

    Args:
        now: gives the time in epoch milliseconds.
    """

    __slots__ = ("_keys", "_now", "_proxies")

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._keys: dict[str, InMemoryPrepareKey[Any]] = {}
        self._proxies: dict[type, Any] = {}

    def named(self, name: str) -> InMemoryPrepareKey[Any]:
        """The keys of a name; the same object at each call."""
        keys = self._keys.get(name)
        if keys is None:
            keys = self._keys[name] = InMemoryPrepareKey(name, self._now)
        return keys

    def of(self, cls: type) -> Any:
        """The object for a declared class; None if the class was not declared with `@preparable_key`."""
        proxy = self._proxies.get(cls)
        if proxy is None:
            name = prepare_key_name(cls)
            if name is None:
                return None
            proxy = self._proxies[cls] = prepare_key_proxy(cls, self.named(name))
        return proxy

    def take_over(self, other: PrepareKeys) -> None:
        """Keep what another world's prepare keys keep."""
        for name, keys in other._keys.items():
            self.named(name).take_over(keys)
