"""From a type to its strategy: the walk through pydantic's core schema, which holds each constraint at its place.

Records (standard dataclasses and plain classes) have no schema; their fields are walked one by one.
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from pydantic import ConfigDict, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUndefinedAnnotation, PydanticUserError
from pydantic_core import SchemaValidator

from ..errors import SpecError
from ..messages.field_types import complete, is_pydantic, namespace_of, record_fields, record_of
from ..modeling.functions import UnresolvedAnnotation
from .building import LEFT_OUT, built
from .callers import Caller, name_of
from .leaves import LEAVES, Schema, Strategy
from .overrides import Overrides
from .steps import STEPS, no_json
from .unresolved import Unresolved, unresolved_error

#: How often a value of a recursive type may hold itself; more where it has no smaller values.
DEPTHS: Final = (3, 8, 24)
#: Within a recursive value containers have few members, since each may have members of its own.
_FEW: Final = 2
_ANY_CLASS: Final = ConfigDict(arbitrary_types_allowed=True)
_NONE: Final = inspect.Parameter.empty

#: Gives the values that fields of a name share, or None: (path of the field, schema of the value).
Pool = Callable[[Sequence[str], Schema], Strategy | None]


def resolve(tp: Any, said: Overrides, caller: Caller, pool: Pool | None = None) -> Strategy:
    """The strategy of a type.

    Args:
        caller: the call that the author wrote.
        tp: a model, a dataclass, a plain class with annotations, or any type that pydantic knows.
        said: what the author said of single fields.
        pool: gives the values that fields of a name share.

    Raises:
        SpecError: where no strategy follows from the type of a field.
    """
    name = name_of(tp)
    for depth in DEPTHS:
        made = _Resolver(name, caller, pool, depth).of_type(tp, said)
        if not made.is_empty:
            return made
    raise SpecError(
        f"{name} has no finite value",
        why="each value of it would hold another one",
        instead=f"a field of it that may be None, or empty: `parent: {name} | None`",
    )


class _Resolver:
    """One walk, with bounded depth."""

    def __init__(self, root: str, caller: Caller, pool: Pool | None, depth: int) -> None:
        self._root = root
        self._caller = caller
        self._pool = pool
        self._depth = depth
        self._definitions: dict[str, Schema] = {}
        self._active: list[Any] = []
        self._level = 0
        self._known: dict[Any, Strategy] = {}
        self._path: list[str] = []

    # --- types --------------------------------------------------------------------------------------------------------

    def of_type(self, tp: Any, said: Overrides) -> Strategy:
        record = record_of(tp)
        if record is not None:
            return self._named(tp, said, lambda: self._record(tp, record, said))
        schema = self._schema_of(tp)
        if schema["type"] == "is-instance":
            raise self._unresolved(f"nothing says what is in {name_of(schema['cls'])}")
        return self.schema(schema, said)

    def _schema_of(self, tp: Any) -> Schema:
        cls = typing.get_origin(tp) or tp
        try:
            if is_pydantic(cls) and "__pydantic_core_schema__" in vars(cls):
                complete(cls, namespace_of(cls))
                return cls.__pydantic_core_schema__  # type: ignore[no-any-return]
            try:
                return TypeAdapter(tp, config=_ANY_CLASS).core_schema
            except PydanticUserError as error:
                if error.code != "type-adapter-config-unused":
                    raise
                return TypeAdapter(tp).core_schema
        except (UnresolvedAnnotation, PydanticUndefinedAnnotation, PydanticSchemaGenerationError, NameError) as error:
            raise self._unresolved(str(error).splitlines()[0]) from error

    def _record(self, tp: Any, cls: type, said: Overrides) -> Strategy:
        namespace = namespace_of(cls)
        fields = {}
        try:
            parameters = list(_parameters(cls, record_fields(tp, namespace), namespace))
        except (UnresolvedAnnotation, NameError) as error:
            raise self._unresolved(str(error)) from error
        for parameter, annotation in parameters:
            with self._at(parameter.name):
                if annotation is _NONE:
                    raise self._unresolved("it has no annotation")
                inner = said.meet(parameter.name)
                made = inner.strategy
                if made is None:
                    made = self._valid(annotation, inner)
                    if parameter.default is not _NONE:
                        made = st.just(LEFT_OUT) | made
            if made.is_empty:
                return made
            fields[parameter.name] = made
        return self.built(lambda drawn: cls(**drawn), fields, cls.__name__)

    def _valid(self, annotation: Any, said: Overrides) -> Strategy:
        """Values of a record's field, made what its type says: nobody else validates them."""
        if record_of(annotation) is not None or is_pydantic(typing.get_origin(annotation) or annotation):
            return self.of_type(annotation, said)
        schema = self._schema_of(annotation)
        made = self.schema(schema, said)
        if made.is_empty or not _converts(schema):
            return made
        validate = SchemaValidator(schema).validate_python  # type: ignore[arg-type,unused-ignore]
        return self.built(lambda drawn: validate(drawn["value"]), {"value": made}, ".".join([self._root, *self._path]))

    def built(self, make: Callable[[dict[str, Any]], Any], fields: Mapping[str, Strategy], shown: str) -> Strategy:
        return built(make, fields, self._caller, ".".join(self._path), shown)

    # --- schemas ------------------------------------------------------------------------------------------------------

    def schema(self, schema: Schema, said: Overrides) -> Strategy:
        kind = schema["type"]
        leaf = LEAVES.get(kind)
        try:
            if leaf is not None:
                shared = self._pool(self._path, schema) if self._pool is not None else None
                if shared is not None:
                    return shared
                made = leaf(schema)
                made.validate()
                return made
            return STEPS.get(kind, no_json)(self, schema, said)
        except (Unresolved, InvalidArgument) as error:
            raise self._unresolved(str(error)) from error

    def field(self, name: str, schema: Schema, said: Overrides) -> Strategy:
        inner = said.meet(name)
        if inner.strategy is not None:
            return inner.strategy
        with self._at(name):
            return self.schema(schema, inner)

    def item(self, schema: Schema, said: Overrides) -> Strategy:
        if self._path:
            self._path[-1] += "[]"
        made = self.schema(schema, said)
        if self._path:
            self._path[-1] = self._path[-1].removesuffix("[]")
        return made

    def sizes(self, schema: Schema) -> tuple[int, int | None]:
        least, most = schema.get("min_length") or 0, schema.get("max_length")
        if self._level:
            most = max(least, _FEW) if most is None else min(most, max(least, _FEW))
        return least, most

    def define(self, definitions: Any) -> None:
        self._definitions.update((definition["ref"], definition) for definition in definitions)

    def reference(self, schema: Schema, said: Overrides) -> Strategy:
        ref = schema["schema_ref"]
        # What a pool gives depends on the field's name, and on whether it is one of the root's own.
        key = (ref, *self._path[-1:], len(self._path) == 1) if self._pool is not None else ref
        return self._named(key, said, lambda: self.schema(self._definitions[ref], said))

    # --- where the walk is --------------------------------------------------------------------------------------------

    def _named(self, key: Any, said: Overrides, step: Callable[[], Strategy]) -> Strategy:
        """A type that may hold itself: each time that it does so is one level deeper, down to the last."""
        deeper = key in self._active
        level = self._level + deeper
        if level > self._depth:
            return st.nothing()
        known = self._known.get((key, level, id(said)))
        if known is None:
            self._active.append(key)
            self._level = level
            known = self._known[key, level, id(said)] = step()
            self._level -= deeper
            self._active.pop()
        return known

    @contextmanager
    def _at(self, name: str) -> Iterator[None]:
        self._path.append(name)
        yield
        self._path.pop()

    def _unresolved(self, why: str) -> SpecError:
        return unresolved_error(self._caller, self._root, ".".join(self._path), why)


def _parameters(cls: Any, types: Mapping[str, Any], namespace: Any) -> Iterator[tuple[inspect.Parameter, Any]]:
    """The parameters of a record's constructor with their types; without annotation and needless ones are left out."""
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        annotation = types.get(parameter.name, _NONE)
        if annotation is _NONE:
            annotation = parameter.annotation
            if annotation is not _NONE:
                annotation = namespace.resolve(cls.__init__, annotation)
            if isinstance(annotation, dataclasses.InitVar):
                annotation = annotation.type
        if annotation is not _NONE or parameter.default is _NONE:
            yield parameter, annotation


def _converts(schema: Any) -> bool:
    """Whether validation may change, or refuse, what is drawn for a schema."""
    if isinstance(schema, Mapping):
        kind = schema.get("type")
        if isinstance(kind, str) and (kind.startswith("function-") or kind in ("json", "definitions", "default")):
            return True
        if any(schema.get(name) for name in ("strip_whitespace", "to_lower", "to_upper")):
            return True
        return any(_converts(value) for key, value in schema.items() if key not in ("metadata", "serialization"))
    return isinstance(schema, list | tuple) and any(_converts(item) for item in schema)
