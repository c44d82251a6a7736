"""What is drawn for each structure of pydantic's core schema: containers, alternatives, classes, validators."""

from __future__ import annotations

import collections
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Protocol

from hypothesis import strategies as st
from pydantic_core import to_json

from ..messages.field_types import record_of
from .building import LEFT_OUT
from .constraints import constrained, constraint_of
from .leaves import ANYTHING, CLASSES, Schema, Strategy, of_function
from .overrides import Overrides
from .unresolved import Unresolved


class Walk(Protocol):
    """What a step asks of the walk that it is part of."""

    def built(self, make: Callable[[dict[str, Any]], Any], fields: Mapping[str, Strategy], shown: str) -> Strategy:
        """Values of a class that stands at this place."""
        ...

    def schema(self, schema: Schema, said: Overrides) -> Strategy:
        """The strategy of an inner schema."""
        ...

    def field(self, name: str, schema: Schema, said: Overrides) -> Strategy:
        """The strategy of a field, or what the author said of it."""
        ...

    def item(self, schema: Schema, said: Overrides) -> Strategy:
        """The strategy of a container's members."""
        ...

    def of_type(self, tp: Any, said: Overrides) -> Strategy:
        """The strategy of a class."""
        ...

    def reference(self, schema: Schema, said: Overrides) -> Strategy:
        """The strategy of a definition."""
        ...

    def define(self, definitions: Any) -> None:
        """Take in definitions."""
        ...

    def sizes(self, schema: Schema) -> tuple[int, int | None]:
        """The least and the greatest size of a container."""
        ...


# --- containers -------------------------------------------------------------------------------------------------------


def _list(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    least, most = walk.sizes(schema)
    items = walk.item(schema["items_schema"], said) if "items_schema" in schema else ANYTHING
    if items.is_empty or most == 0:
        return st.builds(list) if not least else st.nothing()
    return st.lists(items, min_size=least, max_size=most)


def _deque(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    return _list(walk, schema, said).map(collections.deque)


_HASHABLE: Final = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
_KEYS: Final = st.text(max_size=8)
_UNHASHABLE: Final = frozenset(("list", "set", "dict", "deque", "typed-dict", "ordered-dict", "counter"))


def _is_any(schema: Schema | None) -> bool:
    return schema is None or schema["type"] == "any"


def _frozenset(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    least, most = walk.sizes(schema)
    items = _HASHABLE if _is_any(schema.get("items_schema")) else _members(walk, schema["items_schema"], said)
    if items.is_empty or most == 0:
        return st.builds(frozenset) if not least else st.nothing()
    return st.frozensets(items, min_size=least, max_size=most)


def _members(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    cls = schema.get("cls")
    if schema["type"] in _UNHASHABLE or (cls is not None and cls.__hash__ is None):
        name = schema["type"] if cls is None else cls.__name__
        raise Unresolved(f"it is a set, and a {name} cannot be hashed")
    return walk.item(schema, said)


def _set(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    return _frozenset(walk, schema, said).map(set)


def _tuple(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    items = schema["items_schema"]
    place = schema.get("variadic_item_index")
    if place is None:
        return st.tuples(*(_tuple_item(walk, item, said) for item in items))
    least, most = walk.sizes(schema)
    fixed = len(items) - 1
    sizes = {"min_length": max(least - fixed, 0), "max_length": None if most is None else most - fixed}
    before = [_tuple_item(walk, item, said) for item in items[:place]]
    after = [_tuple_item(walk, item, said) for item in items[place + 1 :]]
    middle = _list(walk, {"type": "list", "items_schema": items[place], **sizes}, said)
    if not before and not after:
        return middle.map(tuple)
    return st.tuples(st.tuples(*before), middle, st.tuples(*after)).map(lambda parts: (*parts[0], *parts[1], *parts[2]))


def _tuple_item(walk: Walk, item: Schema, said: Overrides) -> Strategy:
    return walk.item(item, said)


def _dict(walk: Walk, schema: Schema, said: Overrides, factory: type = dict) -> Strategy:
    least, most = walk.sizes(schema)
    keys = _KEYS if _is_any(schema.get("keys_schema")) else walk.item(schema["keys_schema"], said)
    values = walk.item(schema["values_schema"], said) if "values_schema" in schema else ANYTHING
    if keys.is_empty or values.is_empty or most == 0:
        return st.builds(factory) if not least else st.nothing()
    made = st.dictionaries(keys, values, min_size=least, max_size=most)
    return made if factory is dict else made.map(factory)


# --- alternatives -----------------------------------------------------------------------------------------------------


def _nullable(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    return st.none() | walk.schema(schema["schema"], said)


def _default(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    return st.just(LEFT_OUT) | walk.schema(schema["schema"], said)


def _union(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    choices = [choice[0] if isinstance(choice, tuple) else choice for choice in schema["choices"]]
    # `SecretStr` and its like accept themselves, or what they are made of.
    made_of = [choice["function"]["function"] for choice in choices if choice["type"] == "function-after"]
    wanted = [choice for choice in choices if not (choice["type"] == "is-instance" and choice["cls"] in made_of)]
    # So do abstract containers, in older releases of pydantic.
    wanted = [choice for choice in wanted if not (choice["type"] == "json-or-python" and _only_names(choice))] or wanted
    return st.one_of([walk.schema(choice, said) for choice in wanted])


def _tagged_union(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    choices = schema["choices"]
    wanted = [choices[choice] if isinstance(choice, str | int) else choice for choice in choices.values()]
    return st.one_of([walk.schema(choice, said) for choice in wanted])


# --- classes ----------------------------------------------------------------------------------------------------------


def _model(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    cls = schema["cls"]
    inner = _unwrapped(schema["schema"])
    if schema.get("root_model"):
        made = walk.schema(inner.get("schema", inner) if inner["type"] == "model-field" else inner, said)
        if made.is_empty:
            return made
        return walk.built(lambda drawn: cls(*drawn.values()), {"root": made}, cls.__name__)
    return _fields(walk, cls, inner["fields"], said)


def _dataclass(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    cls = schema["cls"]
    if record_of(cls) is not None and not getattr(cls, "__parameters__", ()):
        return walk.of_type(cls, said)
    listed = [field for field in _unwrapped(schema["schema"])["fields"] if field.get("init", True)]
    return _fields(walk, cls, {field["name"]: field for field in listed}, said)


def _named_tuple(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    listed = schema["fields"] if "fields" in schema else schema["arguments_schema"]["arguments_schema"]
    cls = schema["cls"] if "cls" in schema else schema["function"]
    return _fields(walk, cls, {field["name"]: field for field in listed}, said)


def _typed_dict(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    is_total = schema.get("total", True)
    fields = {
        name: field
        if field.get("required", is_total)
        else {**field, "schema": {"type": "default", "schema": field["schema"]}}
        for name, field in schema["fields"].items()
    }
    return _fields(walk, dict, fields, said)


def _unwrapped(schema: Schema) -> Schema:
    """The fields of a class, within the validators of the whole that stand around them."""
    while "fields" not in schema and schema["type"].startswith("function-") and "schema" in schema:
        schema = schema["schema"]
    return schema


def _fields(walk: Walk, cls: Any, fields: Mapping[str, Schema], said: Overrides) -> Strategy:
    drawn: dict[str, Strategy] = {}
    by_name = False
    for name, field in fields.items():
        key = name
        if "validation_alias" in field:
            alias = _plain(field["validation_alias"])
            by_name = by_name or alias is None
            key = alias or name
        made = walk.field(name, field["schema"], said)
        if made.is_empty:
            return made
        drawn[key] = made

    def make(values: dict[str, Any]) -> Any:
        if by_name:
            return cls.__pydantic_validator__.validate_python(values, by_alias=True, by_name=True)
        return cls(**values)

    return walk.built(make, drawn, cls.__name__)


def _plain(alias: Any) -> str | None:
    """The first of a field's aliases that is a key; None if each is a path."""
    if isinstance(alias, str):
        return alias
    paths = alias if isinstance(alias[0], list) else [alias]
    return next((path[0] for path in paths if len(path) == 1), None)


def _is_instance(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    cls = schema["cls"]
    known = CLASSES.get(cls)
    return known if known is not None else walk.of_type(cls, said)


# --- validators -------------------------------------------------------------------------------------------------------


def _after(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    function = schema["function"]["function"]
    known = of_function(function)
    if known is not None:
        return known
    asked = constraint_of(function)
    if asked:
        return walk.schema(constrained(schema["schema"], asked), said)
    inner = walk.schema(schema["schema"], said)
    return inner.map(function) if isinstance(getattr(function, "func", function), type) else inner


def _through(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    function = schema["function"]["function"]
    known = of_function(function)
    if known is not None:
        return known
    made = walk.schema(schema["schema"], said)
    factory = getattr(function, "keywords", {}).get("default_default_factory")
    if factory is not None:
        return made.map(partial(collections.defaultdict, factory))
    # Older releases of pydantic have no schema of its own for it.
    return made.map(collections.deque) if getattr(function, "__name__", "") == "deque_validator" else made


def _plain_validator(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    """A validator in the place of a type: what it takes, or gives, may be said beside it."""
    function = schema["function"]["function"]
    known = of_function(function)
    if known is not None:
        return known
    if getattr(function, "__name__", "") == "pattern_either_validator":
        return CLASSES[re.Pattern]
    for inner in (schema.get("json_schema_input_schema"), schema.get("serialization", {}).get("return_schema")):
        if inner is not None and inner["type"] != "any":
            return walk.schema(inner, said)
    name = getattr(function, "__qualname__", repr(function))
    raise Unresolved(f"{name} alone decides what it may be")


def _inner(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    return walk.schema(schema["schema"], said)


def _lax_or_strict(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    return walk.schema(schema["strict_schema"], said)


def _json_or_python(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    return walk.schema(schema["python_schema"], said)


def _chain(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    """Its first step says what goes in, unless that only names a class which a later one makes."""
    steps = [step for step in schema["steps"] if not _only_names(step)]
    return walk.schema((steps or schema["steps"])[0], said)


def _only_names(step: Schema) -> bool:
    if step["type"] == "json-or-python":
        return _only_names(step["python_schema"])
    return step["type"] == "is-instance" and step["cls"] not in CLASSES


def _json(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    inner = walk.schema(schema["schema"], said) if "schema" in schema else ANYTHING
    return inner.map(lambda value: to_json(value).decode())


def no_json(walk: Walk, schema: Schema, said: Overrides) -> Strategy:  # noqa: ARG001
    """For a type that is none of these."""
    raise Unresolved(f"its values have no JSON ({schema['type']})")


def _definitions(walk: Walk, schema: Schema, said: Overrides) -> Strategy:
    walk.define(schema["definitions"])
    return walk.schema(schema["schema"], said)


#: Core schema type → what is drawn for it; `leaves.LEAVES` has those of single values.
STEPS: Final[dict[str, Callable[[Walk, Schema, Overrides], Strategy]]] = {
    "call": _named_tuple,
    "chain": _chain,
    "counter": partial(_dict, factory=collections.Counter),
    "custom-error": _inner,
    "dataclass": _dataclass,
    "default": _default,
    "definition-ref": lambda walk, schema, said: walk.reference(schema, said),
    "definitions": _definitions,
    "deque": _deque,
    "dict": _dict,
    "frozenset": _frozenset,
    "function-after": _after,
    "function-before": _through,
    "function-plain": _plain_validator,
    "function-wrap": _through,
    "generator": _list,
    "is-instance": _is_instance,
    "json": _json,
    "json-or-python": _json_or_python,
    "lax-or-strict": _lax_or_strict,
    "list": _list,
    "model": _model,
    "named-tuple": _named_tuple,
    "nullable": _nullable,
    "ordered-dict": partial(_dict, factory=collections.OrderedDict),
    "set": _set,
    "tagged-union": _tagged_union,
    "tuple": _tuple,
    "typed-dict": _typed_dict,
    "union": _union,
}
