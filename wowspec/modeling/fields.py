"""Fields of message classes: which there are, of which type, with which markers (CMD-009, CMD-014, CMD-020, CMD-021).

Fields are the annotated names of a class and its supertypes, and its properties: of Pydantic models, dataclasses and
plain annotated classes alike. They come in order of their names, those that the class declares itself first.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import InitVar, dataclass
from operator import attrgetter
from typing import Any, Final

from ..errors import DefinitionError, IllegalArgumentError
from .annotations import marks_field

#: A definition is refused at the line of its author, not at ours.
__tracebackhide__ = True

_FOREIGN: Final = frozenset({"abc", "builtins", "dataclasses", "enum", "typing", "typing_extensions"})
_CLASS_LEVEL_TEXT: Final = re.compile(r"^\s*(?:[A-Za-z_]\w*\.)?(?:ClassVar|InitVar)\b")
#: What stands for an annotation that cannot be resolved.
UNRESOLVED: Final = object()

Getter = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message class.

    Attributes:
        name: attribute name.
        annotation: its type as the nearest class declares it; `UNRESOLVED` if it names something that does not exist.
        declared: annotations of all classes that declare it, nearest first; markers on any of them count (CMD-020).
        text: the annotation as written, for error texts.
        own: whether the class declares it itself.
    """

    name: str
    annotation: Any
    declared: tuple[Any, ...]
    text: str
    own: bool

    def has(self, kind: type) -> bool:
        """Whether a marker of this kind stands on it."""
        return any(_holds_marker(annotation, kind) for annotation in self.declared)


def fields_of(cls: type) -> tuple[Field, ...]:
    """The fields of a class in the order in which the runtime looks at them (CMD-009).

    Raises:
        DefinitionError: if an annotation that may hold a marker cannot be resolved.
    """
    declarations: dict[str, list[tuple[type, Any, str]]] = {}
    for base in cls.__mro__:
        for name, annotation, text in _declared_in(base):
            declarations.setdefault(name, []).append((base, annotation, text))
    found = []
    for name in sorted(declarations):
        nearest, annotation, text = declarations[name][0]
        declared = tuple(item for _, item, _ in declarations[name] if item is not UNRESOLVED)
        found.append(Field(name, annotation, declared, text, nearest is cls))
    return tuple(sorted(found, key=lambda item: not item.own))


def first_marked(fields: tuple[Field, ...], kind: type) -> Field | None:
    """The first field with a marker of this kind."""
    return next((item for item in fields if item.has(kind)), None)


def text_getter(cls: type, item: Field, role: str) -> Getter:
    """A getter for a field that must be `str` or `str | None` (CMD-014).

    Raises:
        IllegalArgumentError: if it is something else.
    """
    if not _is_only(item.annotation, _is_text):
        raise IllegalArgumentError(_wrong_type(cls, item, role, "str or str | None", f"{item.name}: str"))
    return attrgetter(item.name)


def integer_getter(cls: type, item: Field, role: str) -> Getter:
    """A getter for a field that must be `int` or `int | None` (CMD-019).

    Raises:
        IllegalArgumentError: if it is something else.
    """
    if not _is_only(item.annotation, lambda kind: kind is int):
        raise IllegalArgumentError(_wrong_type(cls, item, role, "int or int | None", f"{item.name}: int"))
    return attrgetter(item.name)


def _wrong_type(cls: type, item: Field, role: str, wanted: str, instead: str) -> str:
    return (
        f"{cls.__name__}.{item.name} supplies the {role}, so its type must be {wanted}, but it is {item.text}\n"
        f"  instead: {instead}, and convert where the command is made; or mark another field"
    )


# --- declarations -----------------------------------------------------------------------------------------------------


def _declared_in(base: type) -> Iterator[tuple[str, Any, str]]:
    """Names, resolved annotations and their texts, as one class of the hierarchy declares them."""
    if base.__module__ in _FOREIGN or base.__module__.partition(".")[0] == "pydantic":
        return
    for name, annotation in inspect.get_annotations(base).items():
        if _is_class_level(annotation):
            continue
        yield name, _resolve(base, name, annotation), _shown(annotation)
    for name, member in vars(base).items():
        function = _property_function(member)
        if function is not None:
            annotation = inspect.get_annotations(function).get("return", UNRESOLVED)
            yield name, _resolve(base, name, annotation), _shown(annotation)


def _is_class_level(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return _CLASS_LEVEL_TEXT.match(annotation) is not None
    bare = typing.get_origin(annotation) or annotation
    return bare in (typing.ClassVar, InitVar) or isinstance(annotation, InitVar)


def _property_function(member: Any) -> Callable[..., Any] | None:
    if isinstance(member, property):
        return member.fget
    if isinstance(member, functools.cached_property):
        return member.func
    return None


def _shown(annotation: Any) -> str:
    if annotation is UNRESOLVED:
        return "not annotated"
    if isinstance(annotation, type) and not typing.get_args(annotation):
        return annotation.__name__
    return annotation if isinstance(annotation, str) else str(annotation).replace("typing.", "")


def _resolve(base: type, name: str, annotation: Any) -> Any:
    """The annotation with its names looked up; `UNRESOLVED` where one does not exist and no marker can be in it."""
    if annotation is UNRESOLVED or not _holds_text(annotation):
        return annotation
    namespace = {base.__name__: base, **vars(base)}
    module = vars(sys.modules[base.__module__]) if base.__module__ in sys.modules else {}
    shim = type(name, (), {"__annotations__": {name: annotation}, "__module__": base.__module__})
    for find_locals in (dict, functools.partial(defining_locals, base)):
        try:
            return typing.get_type_hints(shim, module, {**find_locals(), **namespace}, include_extras=True)[name]
        except NameError:
            continue
    pydantic_field = getattr(base, "__pydantic_fields__", {}).get(name)
    if pydantic_field is not None and getattr(base, "__pydantic_complete__", False):
        metadata = tuple(pydantic_field.metadata)
        return typing.Annotated[(pydantic_field.annotation, *metadata)] if metadata else pydantic_field.annotation
    if "Annotated" in str(annotation):
        raise DefinitionError(
            f"the annotation of {base.__name__}.{name} cannot be resolved: {_shown(annotation)}",
            why="it may mark the field as an id, an owner or a version",
            instead="import or define its names at module level (not under TYPE_CHECKING), or before the first use",
        )
    return UNRESOLVED


def _holds_text(annotation: Any) -> bool:
    if isinstance(annotation, str | typing.ForwardRef):
        return True
    if typing.get_origin(annotation) is typing.Literal:
        return False
    args = typing.get_args(annotation)
    if typing.get_origin(annotation) is typing.Annotated:
        args = args[:1]
    return any(_holds_text(arg) for arg in args)


def defining_locals(owner: Any) -> dict[str, Any]:
    """Local names of the functions that define a class or function, as far as they are running.

    The innermost one's come first. Tests define classes so.
    """
    name = getattr(owner, "__qualname__", "")
    module = sys.modules.get(getattr(owner, "__module__", None) or "")
    if ".<locals>." not in name or module is None:
        return {}
    return enclosing_locals(name, vars(module), sys._getframe())


def enclosing_locals(name: str, module: Mapping[str, Any], frame: types.FrameType | None) -> dict[str, Any]:
    """Local names of the running scopes that enclose a qualified name, seen from a frame outwards, the innermost first.

    Args:
        name: the qualified name.
        module: the global names of its module.
        frame: the frame to look from.
    """
    found: dict[str, Any] = {}
    seen = set()
    while frame is not None:
        scope = frame.f_code.co_qualname
        if scope not in seen and name.startswith(f"{scope}.") and frame.f_globals is module:
            seen.add(scope)
            found = {**frame.f_locals, **found}
        frame = frame.f_back
    return found


# --- types ------------------------------------------------------------------------------------------------------------


def _holds_marker(annotation: Any, kind: type) -> bool:
    """Whether a marker stands in an annotation, also inside an alias or beside `None` in a union."""
    if typing.get_origin(annotation) is typing.Annotated:
        if any(marks_field(item, kind) for item in annotation.__metadata__):
            return True
        return _holds_marker(annotation.__origin__, kind)
    if _is_union(annotation):
        return any(_holds_marker(member, kind) for member in typing.get_args(annotation))
    alias = _alias_value(annotation)
    return alias is not None and _holds_marker(alias, kind)


def _is_only(annotation: Any, accepts: Callable[[Any], bool]) -> bool:
    """Whether every member of the type but `None` is accepted, and there is one."""
    if _is_union(annotation):
        members = [member for member in typing.get_args(annotation) if member is not type(None)]
        return bool(members) and all(_is_only(member, accepts) for member in members)
    if typing.get_origin(annotation) is typing.Annotated:
        return _is_only(annotation.__origin__, accepts)
    if isinstance(annotation, typing.NewType):
        return _is_only(annotation.__supertype__, accepts)
    alias = _alias_value(annotation)
    return _is_only(alias, accepts) if alias is not None else accepts(annotation)


def _is_text(kind: Any) -> bool:
    if typing.get_origin(kind) is typing.Literal:
        return all(isinstance(value, str) for value in typing.get_args(kind))
    return kind is str


def _is_union(annotation: Any) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def _alias_value(annotation: Any) -> Any:
    """What a `type X = ...` alias stands for; None for anything else."""
    kind = type(annotation)
    return annotation.__value__ if kind.__name__ == "TypeAliasType" else None
