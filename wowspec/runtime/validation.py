"""Field validation of command bodies, and self-validation (CMD-084 to CMD-088).

A ready instance is validated again, so that `model_construct` and `setattr` hide nothing. The command itself is never
changed: what validation makes of its values is thrown away.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import CoroutineType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    Protocol,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    runtime_checkable,
)

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError, create_model
from pydantic_core import ArgsKwargs, ErrorDetails

from ..errors import BindingError, SpecError, UnsupportedOperationError

Violations = tuple[BindingError, ...]
Path = tuple[int | str, ...]


@runtime_checkable
class CommandValidator(Protocol):
    """A command body that checks itself, before its fields are validated (CMD-084)."""

    def validate_command(self) -> None:
        """Raise whatever should refuse the command; it reaches the caller unchanged."""
        ...


class FieldValidator(Protocol):
    """What the gateway validates the fields of a body with."""

    def validate(self, body: Any) -> Violations:
        """One binding error for each violation."""
        ...


class NoOpValidator:
    """Reports no violations, and knows nothing of constraints (CMD-087)."""

    __slots__ = ()

    def validate(self, body: Any) -> Violations:  # noqa: ARG002
        """Nothing."""
        return ()

    def constraints_of(self, body_type: type) -> Any:
        """What fields must satisfy: an `UnsupportedOperationError` here."""
        message = f"the validator that does nothing has no constraints of {body_type.__name__}"
        raise UnsupportedOperationError(message)


def validate_itself(body: Any) -> None:
    """Run the body's own check, if it has one; what it raises passes unchanged (CMD-084)."""
    if not _known(type(body)).checks_itself:
        return
    answer: Any = body.validate_command()
    if type(answer) is CoroutineType:
        answer.close()
        raise SpecError(
            f"{type(body).__name__}.validate_command is an async function",
            why="the gateway calls it and does not wait, so nothing would have been checked",
            instead="def validate_command(self) -> None: ...",
        )


def path_text(path: Path) -> str:
    """A path as text: `items[0].quantity`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else str(part)
    return text


def violations_of(error: ValidationError, prefix: Path = (), names: Mapping[str, str] | None = None) -> Violations:
    """The binding errors of a pydantic refusal; `names` maps aliases back to field names."""
    return _bindings(error.errors(**_BRIEF), prefix, names)


def _bindings(details: Iterable[ErrorDetails], prefix: Path, names: Mapping[str, str] | None) -> Violations:
    return tuple(
        BindingError(path_text((*prefix, *_named(detail["loc"], names))), detail["msg"])
        for detail in details
        if detail["type"] not in _NOT_REPEATABLE
    )


_BRIEF: Final[dict[str, Any]] = {"include_url": False, "include_context": False, "include_input": False}
#: `Json[...]` fields hold the parsed value, which cannot be parsed again.
_NOT_REPEATABLE: Final = frozenset({"json_type"})


def _named(loc: Path, names: Mapping[str, str] | None) -> Path:
    if names and loc and isinstance(loc[0], str):
        return (names.get(loc[0], loc[0]), *loc[1:])
    return loc


class PydanticValidator:
    """Validates pydantic models and dataclasses, nested ones too; other bodies have no fields to validate."""

    __slots__ = ()

    def validate(self, body: Any) -> Violations:
        """One binding error for each violation, in the order of the fields (CMD-085)."""
        check = _known(type(body)).check
        if check is None:
            return ()
        if not check.nested:
            return check.own(check.values(body), ())
        found: list[BindingError] = []
        check.run(body, (), found)
        return tuple(found)


class _Check:
    """How instances of one class are validated; made once for each class."""

    __slots__ = ("is_root", "nested", "own", "values")

    def __init__(
        self,
        values: Callable[[Any], dict[str, Any]],
        own: Callable[[dict[str, Any], Path], Violations],
        nested: tuple[str, ...],
        *,
        is_root: bool = False,
    ) -> None:
        self.is_root = is_root
        self.values = values
        self.own = own
        self.nested = nested

    def run(self, body: Any, path: Path, found: list[BindingError]) -> None:
        values = self.values(body)
        found.extend(self.own(values, path))
        for name in self.nested:
            if name in values:
                # Like pydantic's own paths, ours do not name a root model's one field.
                _descend(values[name], path if self.is_root else (*path, name), found)


def _descend(value: Any, path: Path, found: list[BindingError]) -> None:
    """Validate models inside a field's value: validating the outer one takes ready instances as they are."""
    check = _known(type(value)).check
    if check is not None:
        check.run(value, path, found)
        return
    for key, item in _items(value):
        _descend(item, (*path, key), found)


def _items(value: Any) -> Iterator[tuple[int | str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key if isinstance(key, int) else str(key), item
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from enumerate(value)


#: What is known of a class is kept on the class itself: with it, and no longer than it.
_KNOWN: Final = "__wowspec_validation__"


class _Known:
    """What is known of a class of bodies: whether they check themselves, and how their fields are checked."""

    __slots__ = ("check", "checks_itself", "cls")

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.checks_itself = callable(getattr(cls, "validate_command", None))
        self.check = _make_check(cls)


def _known(cls: type) -> _Known:
    known: _Known | None = getattr(cls, _KNOWN, None)
    # A class that was copied, such as by `dataclass(slots=True)`, holds what was kept on the one before.
    if known is None or known.cls is not cls:
        known = _Known(cls)
        with contextlib.suppress(TypeError):  # a class of Python's own keeps nothing
            type.__setattr__(cls, _KNOWN, known)
    return known


def _make_check(body_type: type) -> _Check | None:
    if issubclass(body_type, RootModel):
        return _root_check(body_type)
    if issubclass(body_type, BaseModel):
        return _model_check(body_type)
    if dataclasses.is_dataclass(body_type):
        return _dataclass_check(body_type)
    return None


def _model_check(model: type[BaseModel]) -> _Check:
    keys = {name: _input_key(name, info) for name, info in model.model_fields.items()}
    renamed = {name: key for name, key in keys.items() if name != key}
    names = {key: name for name, key in renamed.items()}

    def values(body: Any) -> dict[str, Any]:
        extra: dict[str, Any] | None = body.__pydantic_extra__
        return {**body.__dict__, **extra} if extra else dict(body.__dict__)

    def with_aliases(given: dict[str, Any], path: Path) -> Violations:
        data = {keys.get(name, name): value for name, value in given.items()}
        return _validate_twice(model, names, data, path)

    nested = tuple(name for name, info in model.model_fields.items() if not _is_leaf(info.annotation))
    return _Check(values, with_aliases if renamed else partial(_validate_twice, model, names), nested)


def _root_check(model: type[RootModel[Any]]) -> _Check:
    def values(body: Any) -> dict[str, Any]:
        return {"root": body.root}

    def own(given: dict[str, Any], path: Path) -> Violations:
        return _validate_twice(model, {}, given["root"], path)

    nested = () if _is_leaf(model.model_fields["root"].annotation) else ("root",)
    return _Check(values, own, nested, is_root=True)


def _validate_twice(model: type[BaseModel], names: Mapping[str, str], data: Any, path: Path) -> Violations:
    """Strictly first; what only lax validation takes is a violation if it would have to change the value.

    Without the second look, fields that legally hold another type than their own (`use_enum_values`) would be refused;
    without the first, `model_construct(quantity="3")` would pass as a number.
    """
    validate = model.__pydantic_validator__.validate_python
    try:
        # A bare instance to fill: the model's own `__init__` may have other parameters.
        validate(data, strict=True, self_instance=model.__new__(model))
    except ValidationError as refused:
        strict = refused
    else:
        return ()
    try:
        made = validate(data, strict=False, self_instance=model.__new__(model))
    except ValidationError as error:
        return violations_of(error, path, names)
    changed = [detail for detail in strict.errors(**_BRIEF) if not _is_kept(detail["loc"], data, made.__dict__, names)]
    return _bindings(changed, path, names)


def _is_kept(loc: Path, data: Any, kept: dict[str, Any], names: Mapping[str, str]) -> bool:
    if not loc or not isinstance(data, dict) or loc[0] not in data:
        return False
    name = names.get(str(loc[0]), str(loc[0]))
    before, after = data[loc[0]], kept.get(name)
    return type(before) is type(after) and before == after


def _input_key(name: str, info: Any) -> str:
    alias = info.validation_alias if info.validation_alias is not None else info.alias
    choices = getattr(alias, "choices", None)
    if choices:
        alias = next((choice for choice in choices if isinstance(choice, str)), None)
    return alias if isinstance(alias, str) else name


def _dataclass_check(body_type: type) -> _Check | None:
    fields = [field.name for field in dataclasses.fields(body_type) if field.init]
    try:
        hints = get_type_hints(body_type, include_extras=True)
    except NameError:
        return None

    def values(body: Any) -> dict[str, Any]:
        return {name: getattr(body, name) for name in fields if hasattr(body, name)}

    own = (
        _pydantic_dataclass_validation(body_type)
        if hasattr(body_type, "__pydantic_validator__")
        else _plain_dataclass_validation(body_type, fields, hints)
    )
    return _Check(values, own, tuple(name for name in fields if not _is_leaf(hints.get(name, Any))))


def _pydantic_dataclass_validation(body_type: Any) -> Callable[[dict[str, Any], Path], Violations]:
    def own(given: dict[str, Any], path: Path) -> Violations:
        try:
            body_type.__pydantic_validator__.validate_python(
                ArgsKwargs((), given), self_instance=object.__new__(body_type)
            )
        except ValidationError as error:
            return violations_of(error, path)
        return ()

    return own


def _plain_dataclass_validation(
    body_type: type, fields: list[str], hints: dict[str, Any]
) -> Callable[[dict[str, Any], Path], Violations]:
    """A model with a field for each field of the dataclass; lax, since a plain dataclass never promised its types."""
    # Neutral names: a dataclass may have fields that would shadow the methods of a model.
    aliases = {name: f"field_{index}" for index, name in enumerate(fields)}
    definitions: dict[str, Any] = {
        aliases[name]: (hints.get(name, Any), Field(validation_alias=name)) for name in fields
    }
    model = create_model(body_type.__name__, __config__=ConfigDict(arbitrary_types_allowed=True), **definitions)

    def own(given: dict[str, Any], path: Path) -> Violations:
        try:
            model.__pydantic_validator__.validate_python(given)
        except ValidationError as error:
            return violations_of(error, path)
        return ()

    return own


_LEAVES: Final[tuple[type, ...]] = (str, bytes, int, float, complex, NoneType)
_CONTAINERS: Final = frozenset({list, tuple, set, frozenset, dict, Union, UnionType})


def _is_leaf(annotation: Any) -> bool:
    """Whether a field of this type can hold no model inside."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _is_leaf(get_args(annotation)[0])
    if origin is Literal:
        return True
    if origin in _CONTAINERS:
        return all(arg is Ellipsis or _is_leaf(arg) for arg in get_args(annotation))
    return annotation is None or (isinstance(annotation, type) and issubclass(annotation, _LEAVES))
