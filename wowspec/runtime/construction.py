"""Making the objects that hold event functions: from their first constructor, with services (TST-044)."""

from __future__ import annotations

import inspect
from typing import Any

from ..modeling.functions import Namespace, UnresolvedAnnotation, injected_parameter
from ..world.world import World
from .injection import arguments_of


class _Nowhere:
    """Stands for the exchange where there is none: a constructor is given services alone."""

    message = header = aggregate_id = services = error = None


def make_processor(cls: type, world: World) -> Any:
    """An object of a processor class.

    Raises:
        MissingServiceError: if nothing supplies a parameter of its constructor.
    """
    init = inspect.getattr_static(cls, "__init__")
    if init is object.__init__:
        return cls()
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
    positional, keywords = arguments_of(f"{cls.__name__}.__init__", parameters, _Nowhere, world)
    return cls(*positional, **keywords)
