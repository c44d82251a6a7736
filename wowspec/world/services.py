"""Services that handlers are given: looked up by type, then by name (CMD-300, EVT-098)."""

from __future__ import annotations

from typing import Any, Final

from ..errors import IllegalArgumentError, SpecError
from ..modeling.naming import message_name
from .copying import deep_copy


class ServiceProvider:
    """Registered services."""

    __slots__ = ("_by_name", "_by_type")

    def __init__(self) -> None:
        self._by_type: dict[type, Any] = {}
        self._by_name: dict[str, Any] = {}

    def register(self, service: Any, *, name: str | None = None, service_type: type | None = None) -> None:
        """Register by type (default: its class) and by name (default: the class's `@name`, else it in snake case)."""
        kind = service_type or type(service)
        self._by_type[kind] = service
        self._by_name[name if name is not None else message_name(type(service))] = service

    def by_type(self, wanted: type) -> Any | None:
        """Exact type first, then a registered subtype, then any instance; None if there is none."""
        found = self._by_type.get(wanted)
        if found is not None:
            return found
        for kind, service in self._by_type.items():
            if _is_subclass(kind, wanted):
                return service
        for service in self._by_type.values():
            if _is_instance(service, wanted):
                return service
        for service in self._by_name.values():
            if _is_instance(service, wanted):
                return service
        return None

    def by_name(self, name: str) -> Any | None:
        """Exact name; None if there is none."""
        return self._by_name.get(name)

    def require_type(self, wanted: type) -> Any:
        """Like `by_type`, but a missing one is an `IllegalArgumentError`."""
        found = self.by_type(wanted)
        if found is None:
            why = f" ({NOBODY_IS}: @runtime_checkable above it, or its name)" if is_bare_protocol(wanted) else ""
            message = f"no service of type {wanted.__name__}{why}; there are: {self.offer()}"
            raise IllegalArgumentError(message)
        return found

    def require_name(self, name: str) -> Any:
        """Like `by_name`, but a missing one is an `IllegalArgumentError`."""
        found = self.by_name(name)
        if found is None:
            message = f"no service named {name!r}; there are: {self.offer()}"
            raise IllegalArgumentError(message)
        return found

    def names_of(self, service: Any) -> list[str]:
        """The names that a service is registered under."""
        return [name for name, other in self._by_name.items() if other is service]

    def named(self) -> list[tuple[str, Any]]:
        """Every service with its name, in the order of registration."""
        return list(self._by_name.items())

    def offer(self) -> str:
        """What is registered, for error texts."""
        return ", ".join(f"{name}: {_kind(service)}" for name, service in self._by_name.items()) or "none"

    def copy(self) -> ServiceProvider:
        """An independent provider of the same services."""
        other = ServiceProvider()
        other._by_type.update(self._by_type)
        other._by_name.update(self._by_name)
        return other

    def deep_copy(self, copies: dict[int, Any]) -> ServiceProvider:
        """An independent provider of copies of the services.

        Args:
            copies: copies by identity, as `copy.deepcopy` keeps them; what is there already is taken from there.

        Raises:
            SpecError: for a service that cannot be copied.
        """
        other = ServiceProvider()
        for kind, service in self._by_type.items():
            other._by_type[kind] = _deep_copy(service, copies)
        for name, service in self._by_name.items():
            other._by_name[name] = _deep_copy(service, copies)
        return other


#: Why a service that is given is not found.
NOBODY_IS: Final = "no object is known to be of a Protocol without it"


def is_bare_protocol(wanted: type) -> bool:
    """Whether a class is a Protocol that no object can be asked about."""
    return getattr(wanted, "_is_protocol", False) and not getattr(wanted, "_is_runtime_protocol", False)


def _deep_copy(service: Any, copies: dict[int, Any]) -> Any:
    try:
        return deep_copy(service, copies)
    except Exception as error:
        name = type(service).__name__
        raise SpecError(
            f"the service {name} cannot be copied: {error}",
            why="each of the runs that are compared needs services that no other run has changed",
            instead=f".inject_factory({name}) instead of .inject({name}(...)): it makes a fresh one for each run",
        ) from error


def _kind(service: Any) -> str:
    return f"the class {service.__name__}" if isinstance(service, type) else type(service).__name__


def _is_subclass(kind: type, wanted: type) -> bool:
    try:
        return issubclass(kind, wanted)
    except TypeError:
        return False


def _is_instance(service: Any, wanted: type) -> bool:
    try:
        return isinstance(service, wanted)
    except TypeError:
        return False
