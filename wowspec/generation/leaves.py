"""Strategies for single values, from pydantic's core schema of their type: every value is valid and has its JSON."""

from __future__ import annotations

import datetime as dt
import ipaddress
import math
import pathlib
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final
from uuid import UUID

from hypothesis import strategies as st
from pydantic_core import SchemaValidator, ValidationError

from .unresolved import Unresolved

Schema = Mapping[str, Any]
Strategy = st.SearchStrategy[Any]

#: Dates count as past or future whenever a suite runs.
_LATEST_PAST: Final = dt.date(2020, 1, 1)
_EARLIEST_FUTURE: Final = dt.date(2200, 1, 1)
#: Durations of about a century: longer ones take dates out of the calendar.
_LONGEST: Final = dt.timedelta(days=36_500)
#: Digits after the point where the type does not say how many.
_PLACES: Final = 4
#: Integers up to here are floats without loss.
_EXACT: Final = 2**53
_BOUNDS: Final = ("ge", "gt", "le", "lt")
#: A pattern of one sort of character, which any length can be made of.
_ONE_SORT: Final = re.compile(r"\^?(\[(?:[^\]\\]|\\.)+\]|\\[dw])(?:([+*?])|\{(\d+)(,?)(\d*)\})\$?")


def integers(schema: Schema) -> Strategy:
    """Whole numbers."""
    step = schema.get("multiple_of") or 1
    low, high = _whole_bounds(schema, Fraction(step))
    return _whole(low, high) if step == 1 else _whole(low, high).map(lambda count: int(count * step))


def floats(schema: Schema) -> Strategy:
    """Finite floats: the others have no JSON, and NaN equals nothing."""
    step = schema.get("multiple_of")
    if step is not None:
        low, high = _whole_bounds(schema, Fraction(step))
        low, high = max(-_EXACT, -_EXACT if low is None else low), min(_EXACT, _EXACT if high is None else high)
        return _checked(schema, _whole(low, high).map(lambda count: count * step))
    low = _extreme(schema, "ge", "gt", max)
    high = _extreme(schema, "le", "lt", min)
    return st.floats(
        None if low is None or low == -math.inf else float(low),
        None if high is None or high == math.inf else float(high),
        exclude_min=low is not None and low != -math.inf and low == schema.get("gt"),
        exclude_max=high is not None and high != math.inf and high == schema.get("lt"),
        allow_nan=False,
        allow_infinity=False,
    )


def decimals(schema: Schema) -> Strategy:
    """Finite decimals with few places; the digits and places that the type allows."""
    step = schema.get("multiple_of")
    digits, places = schema.get("max_digits"), schema.get("decimal_places")
    if step is not None:
        low, high = _whole_bounds(schema, Fraction(step))
        unit = Decimal(str(step))
        return _checked(schema, _whole(low, high).map(lambda count: count * unit))
    scale = _PLACES if places is None else places
    # Zeros after the point are digits, too.
    scale = scale if digits is None else min(scale, digits)
    low, high = _whole_bounds(schema, Fraction(1, 10**scale))
    while places is None and low is not None and high is not None and low > high and scale < 30:
        scale += 1
        low, high = _whole_bounds(schema, Fraction(1, 10**scale))
    if digits is not None:
        whole = digits - places if places is not None else digits - scale
        most = 10 ** (max(whole, 0) + scale) - 1
        low = -most if low is None else max(low, -most)
        high = most if high is None else min(high, most)

    def scaled(count: int) -> Decimal:
        whole, rest = divmod(count, 10**scale)
        return Decimal(count).scaleb(-scale) if rest or digits == scale else Decimal(whole)

    return _whole(low, high).map(scaled)


def fractions(schema: Schema) -> Strategy:
    """Fractions."""
    return st.fractions(schema.get("ge"), schema.get("le"))


def _whole(low: int | None, high: int | None) -> st.SearchStrategy[int]:
    if low is not None and high is not None and low > high:
        raise Unresolved("its bounds leave no value")
    return st.integers(low, high)


def _whole_bounds(schema: Schema, unit: Fraction) -> tuple[int | None, int | None]:
    """The bounds in whole numbers of a unit."""
    lows = [math.ceil(_exact(schema["ge"]) / unit)] if _is_bound(schema, "ge") else []
    lows += [math.floor(_exact(schema["gt"]) / unit) + 1] if _is_bound(schema, "gt") else []
    highs = [math.floor(_exact(schema["le"]) / unit)] if _is_bound(schema, "le") else []
    highs += [math.ceil(_exact(schema["lt"]) / unit) - 1] if _is_bound(schema, "lt") else []
    return max(lows, default=None), min(highs, default=None)


def _is_bound(schema: Schema, name: str) -> bool:
    value = schema.get(name)
    return value is not None and (not isinstance(value, float) or math.isfinite(value))


def _exact(value: Any) -> Fraction:
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)


def _extreme(schema: Schema, first: str, second: str, choose: Callable[..., Any]) -> Any:
    said = [schema[name] for name in (first, second) if schema.get(name) is not None]
    return choose(said) if said else None


# --- texts ------------------------------------------------------------------------------------------------------------


def texts(schema: Schema) -> Strategy:
    """Texts; a pattern is matched by the whole text."""
    least, most = schema.get("min_length") or 0, schema.get("max_length")
    pattern = schema.get("pattern")
    if pattern is not None:
        return _checked(schema, _matching(pattern, least, most))
    alphabet = st.characters(codec="ascii") if schema.get("ascii_only") else st.characters(codec="utf-8")
    made = st.text(alphabet, min_size=least, max_size=most)
    return _checked(schema, made) if schema.get("strip_whitespace") and least else made


def _matching(pattern: str | re.Pattern[str], least: int, most: int | None) -> Strategy:
    text = pattern if isinstance(pattern, str) else pattern.pattern
    simple = _ONE_SORT.fullmatch(text)
    try:
        re.compile(text)
        if simple is None or (isinstance(pattern, re.Pattern) and pattern.flags & re.IGNORECASE):
            return st.from_regex(pattern, fullmatch=True)
        one, sign, low, comma, high = simple.groups()
        fewest = int(low) if low else int(sign == "+")
        many = int(high) if high else None if sign in ("+", "*") or comma else fewest if low else 1
        many = most if many is None else many if most is None else min(many, most)
        alphabet = st.from_regex(one, fullmatch=True)
        return st.text(alphabet, min_size=max(fewest, least), max_size=many)
    except re.error as error:
        raise Unresolved(f"its pattern {text!r} cannot be read as one of Python's: {error}") from error


def raw_bytes(schema: Schema) -> Strategy:
    """Bytes that are text in UTF-8, as JSON holds them."""
    least, most = schema.get("min_length") or 0, schema.get("max_length")
    if not least and most is None:
        return st.text().map(str.encode)
    return st.text(st.characters(codec="ascii"), min_size=least, max_size=most).map(str.encode)


def urls(schema: Schema) -> Strategy:
    """Addresses of a few hosts, as text: what validates them makes objects of them."""
    schemes = schema.get("allowed_schemes") or ["https"]
    hosts = st.sampled_from(("example.com", "www.example.org", "localhost"))
    paths = st.text(st.characters(codec="ascii", categories=("Ll", "Nd")), max_size=8)
    return st.builds("{}://{}/{}".format, st.sampled_from(schemes), hosts, paths)


# --- times ------------------------------------------------------------------------------------------------------------


def dates(schema: Schema) -> Strategy:
    """Dates; a past one is well past, a future one far ahead, whenever the suite runs."""
    day = dt.timedelta(days=1)
    low, high = _nearest(schema, day, dt.date.min, dt.date.max)
    now = schema.get("now_op")
    if now == "past":
        high = min(high, _LATEST_PAST)
    elif now == "future":
        low = max(low, _EARLIEST_FUTURE)
    _require_room(low, high)
    return st.dates(low, high)


def datetimes(schema: Schema) -> Strategy:
    """Datetimes: in UTC, unless the type wants them naive or in a certain zone."""
    constraint = schema.get("tz_constraint")
    zone = dt.timezone(dt.timedelta(seconds=constraint)) if isinstance(constraint, int) else dt.UTC
    is_naive = constraint == "naive" or (
        constraint is None and any(schema[name].tzinfo is None for name in _BOUNDS if schema.get(name) is not None)
    )
    # A day of room at both ends of the calendar: another zone's time has to be in it, too.
    low, high = dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30)  # noqa: DTZ001 - the strategy adds the zone
    low, high = _nearest(_naive(schema, zone), dt.timedelta(microseconds=1), low, high)
    now = schema.get("now_op")
    if now == "past":
        high = min(high, dt.datetime.combine(_LATEST_PAST, dt.time()))
    elif now == "future":
        low = max(low, dt.datetime.combine(_EARLIEST_FUTURE, dt.time()))
    _require_room(low, high)
    return st.datetimes(low, high) if is_naive else st.datetimes(low, high, timezones=st.just(zone))


def _naive(schema: Schema, zone: dt.tzinfo) -> dict[str, Any]:
    bounds = {name: schema[name] for name in _BOUNDS if schema.get(name) is not None}
    return {
        name: value.astimezone(zone).replace(tzinfo=None) if value.tzinfo is not None else value
        for name, value in bounds.items()
    }


def times(schema: Schema) -> Strategy:
    """Times of day: naive, unless the type wants a zone."""
    constraint = schema.get("tz_constraint")
    low = _extreme(schema, "ge", "gt", max) or dt.time.min
    high = _extreme(schema, "le", "lt", min) or dt.time.max
    zone: Any = low.tzinfo or high.tzinfo
    if isinstance(constraint, int):
        zone = dt.timezone(dt.timedelta(seconds=constraint))
    elif constraint == "aware":
        zone = zone or dt.UTC
    made = st.times(low.replace(tzinfo=None), high.replace(tzinfo=None))
    return _checked(schema, made.map(lambda moment: moment.replace(tzinfo=zone)) if zone else made)


def durations(schema: Schema) -> Strategy:
    """Durations, up to a century where the type says no more."""
    low, high = _nearest(schema, dt.timedelta(microseconds=1), None, None)
    low = low if low is not None else min(-_LONGEST, high) if high is not None else -_LONGEST
    high = high if high is not None else max(_LONGEST, low)
    _require_room(low, high)
    return st.timedeltas(low, high)


def _nearest(schema: Schema, unit: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The bounds of what the type allows, both within, where values lie a unit apart."""
    lows = [value for value in (schema.get("ge"), low) if value is not None]
    lows += [schema["gt"] + unit] if schema.get("gt") is not None else []
    highs = [value for value in (schema.get("le"), high) if value is not None]
    highs += [schema["lt"] - unit] if schema.get("lt") is not None else []
    return max(lows, default=None), min(highs, default=None)


def _require_room(low: Any, high: Any) -> None:
    if low > high:
        raise Unresolved("its bounds leave no value")


# --- others -----------------------------------------------------------------------------------------------------------


def uuids(schema: Schema) -> Strategy:
    """UUIDs of the version that the type wants; else of version 4."""
    version = schema.get("version") or 4

    def made(number: int) -> UUID:
        number = number & ~(0xF << 76) | (version << 76)
        return UUID(int=number & ~(0x3 << 62) | (0x2 << 62))

    return st.integers(0, 2**128 - 1).map(made)


def literals(schema: Schema) -> Strategy:
    """One of the values that the type lists."""
    return st.sampled_from(list(schema["expected"]))


def members(schema: Schema) -> Strategy:
    """One of an enumeration's members."""
    if not schema["members"]:
        raise Unresolved(f"{schema['cls'].__name__} has no members")
    return st.sampled_from(list(schema["members"]))


#: Whatever JSON can hold, small.
ANYTHING: Final[Strategy] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**31), 2**31) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)

#: Core schema type → the strategy of its values.
LEAVES: Final[dict[str, Callable[[Schema], Strategy]]] = {
    "any": lambda _: ANYTHING,
    "bool": lambda _: st.booleans(),
    "bytes": raw_bytes,
    "complex": lambda _: st.complex_numbers(allow_nan=False, allow_infinity=False),
    "date": dates,
    "datetime": datetimes,
    "decimal": decimals,
    "enum": members,
    "float": floats,
    "fraction": fractions,
    "int": integers,
    "literal": literals,
    "multi-host-url": urls,
    "none": lambda _: st.none(),
    "str": texts,
    "time": times,
    "timedelta": durations,
    "url": urls,
    "uuid": uuids,
}

_NAMES: Final = st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=8)

#: Classes of the standard library that pydantic takes as they are.
CLASSES: Final[dict[type, Strategy]] = {
    ipaddress.IPv4Address: st.ip_addresses(v=4),
    ipaddress.IPv6Address: st.ip_addresses(v=6),
    ipaddress.IPv4Network: st.ip_addresses(v=4).map(ipaddress.IPv4Network),
    ipaddress.IPv6Network: st.ip_addresses(v=6).map(ipaddress.IPv6Network),
    ipaddress.IPv4Interface: st.ip_addresses(v=4).map(ipaddress.IPv4Interface),
    ipaddress.IPv6Interface: st.ip_addresses(v=6).map(ipaddress.IPv6Interface),
    pathlib.Path: st.lists(_NAMES, min_size=1, max_size=3).map(lambda parts: pathlib.Path(*parts)),
    pathlib.PurePath: st.lists(_NAMES, min_size=1, max_size=3).map(lambda parts: pathlib.PurePath(*parts)),
    re.Pattern: _NAMES.map(re.compile),
    Fraction: st.fractions(),
    Decimal: decimals({}),
    UUID: uuids({}),
}


def of_function(function: Any) -> Strategy | None:
    """The inputs of a validator that is pydantic's own, or None: e-mail addresses, sizes in bytes, encoded texts."""
    owner = getattr(function, "__self__", None)
    name = owner.__name__ if isinstance(owner, type) else type(owner).__name__
    if owner is None or (owner if isinstance(owner, type) else type(owner)).__module__.split(".")[0] != "pydantic":
        return None
    if name in ("EmailStr", "NameEmail"):
        return st.builds("{}@example.{}".format, _NAMES, st.sampled_from(("com", "org")))
    if name == "ByteSize":
        return st.integers(0, 2**40)
    if name == "PaymentCardNumber":
        return st.sampled_from(("4242424242424242", "5555555555554444", "378282246310005"))
    if name == "EncodedBytes":
        return st.text().map(lambda text: owner.encode(text.encode()))
    return st.text().map(owner.encode_str) if name == "EncodedStr" else None


def _checked(schema: Schema, made: Strategy) -> Strategy:
    """The values that pydantic accepts."""
    return made.filter(accepts(schema))


def accepts(schema: Schema) -> Callable[[Any], bool]:
    """Whether pydantic accepts a value by a schema that refers to no other."""
    validate = SchemaValidator(schema).validate_python  # type: ignore[arg-type,unused-ignore]

    def check(value: Any) -> bool:
        try:
            validate(value)
        except ValidationError:
            return False
        return True

    return check
