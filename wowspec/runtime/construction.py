"""Making the objects that hold event functions: from their first constructor, with services (TST-044)."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from ..errors import SpecError
from ..modeling.functions import Namespace, Parameter, UnresolvedAnnotation, injected_parameter
from ..world.copying import deep_copy
from ..world.user_clock import Clock
from ..world.world import World
from .fault_points import FaultPoints
from .injection import arguments_of


class _Nowhere:
    """Stands for the exchange where there is none: a constructor is given services alone."""

    message = header = aggregate_id = services = error = None


@dataclass(frozen=True, slots=True)
class Made:
    """A processor object, and what its constructor was given.

    Attributes:
        instance: the object.
        parameters: what its constructor asks for.
        arguments: what it was given, in their order.
        is_bound: whether one of them belongs to this world alone: its clock, its views, its prepare keys.
    """

    instance: Any
    parameters: tuple[Parameter, ...] = ()
    arguments: tuple[Any, ...] = ()
    is_bound: bool = False

    def moved_to(self, world: World, copies: dict[int, Any] | None = None) -> Made:
        """This object for a copy of its world: itself, or a copy that has that world's clock, views and prepare keys.

        Args:
            world: the copy.
            copies: copies of what else is not to be shared, by identity; then this object is copied, too.

        Raises:
            SpecError: if it must be copied and cannot be.
        """
        if not self.is_bound and copies is None:
            return self
        cls = type(self.instance)
        positional, keywords = _arguments(cls, self.parameters, world)
        arguments = _in_order(self.parameters, positional, keywords)
        # What was injected is replaced wherever it is reachable from the object; services are shared.
        memo = {} if copies is None else copies
        memo.update({id(old): new for old, new in zip(self.arguments, arguments, strict=True)})
        try:
            instance = deep_copy(self.instance, memo)
        except Exception as error:
            raise SpecError(
                f"the {cls.__name__} of this world cannot be copied: {error}",
                why="its constructor took something that each copy of a world has for itself",
                instead=f"let the functions of {cls.__name__} ask for it: def on_event(self, event, views: Views[Row])",
            ) from error
        return Made(instance, self.parameters, arguments, self.is_bound)


def make_processor(cls: type, world: World) -> Made:
    """Make an object of a processor class.

    Raises:
        MissingServiceError: if nothing supplies a parameter of its constructor.
    """
    init = inspect.getattr_static(cls, "__init__")
    if init is object.__init__:
        return Made(cls())
    namespace = Namespace()
    parameters = []
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        try:
            annotation = namespace.resolve(init, parameter.annotation)
        except UnresolvedAnnotation:
            annotation = None
        parameters.append(injected_parameter(parameter, annotation))
    positional, keywords = _arguments(cls, tuple(parameters), world)
    bound = any(_is_bound(cls, parameter, world) for parameter in parameters)
    arguments = _in_order(tuple(parameters), positional, keywords)
    return Made(cls(*positional, **keywords), tuple(parameters), arguments, bound)


def _arguments(cls: type, parameters: tuple[Parameter, ...], world: World) -> tuple[list[Any], dict[str, Any]]:
    return arguments_of(f"{cls.__name__}.__init__", parameters, _Nowhere, world, owner=cls)


def _in_order(parameters: tuple[Parameter, ...], positional: list[Any], keywords: dict[str, Any]) -> tuple[Any, ...]:
    left = iter(positional)
    return tuple(keywords[parameter.name] if parameter.keyword else next(left) for parameter in parameters)


def _is_bound(cls: type, parameter: Parameter, world: World) -> bool:
    wanted = parameter.wanted
    if wanted is None or parameter.service_name is not None:
        return False
    return wanted in (Clock, FaultPoints) or (world.parts is not None and world.parts(cls, wanted) is not None)
