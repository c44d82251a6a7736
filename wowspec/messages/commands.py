"""Building a command message from a body (section B), and the builder that collects its values (section C)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Self, TypeVar

from ..errors import IllegalArgumentError, SpecError
from ..modeling.commands import command_metadata
from ..modeling.configuration import Scopes
from ..modeling.identity import (
    DEFAULT_OWNER_ID,
    DEFAULT_SPACE_ID,
    DEFAULT_TENANT_ID,
    AggregateRef,
    NamedAggregate,
    make_ref,
)
from ..modeling.naming import to_named_aggregate
from ..modeling.scopes import DECLARED
from ..texts import is_blank
from .envelopes import CommandMessage
from .header import Header, write_local_first
from .ids import Origin
from .propagation import PROPAGATORS, Propagator, Upstream, ensure_trace_id, propagate

C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Precedence:
    """One row of the precedence table: where a value of the message comes from, highest first.

    None means absent; a blank text is a value (CMD-029, CMD-030).
    """

    value: str
    sources: tuple[str, ...]
    clauses: tuple[str, ...]


#: The rules that `to_command_message` follows; a test holds it to each row.
PRECEDENCE: Final[tuple[Precedence, ...]] = (
    Precedence("named_aggregate", ("argument", "body or its class"), ("CMD-031", "CMD-032")),
    Precedence(
        "aggregate_id",
        ("owner that is not blank, if same", "body or its class", "argument", "generated"),
        ("CMD-028", "CMD-033", "CMD-036"),
    ),
    Precedence("tenant_id", ("body or its class", "argument", "default (0)"), ("CMD-028", "CMD-017")),
    Precedence(
        "owner_id",
        ("aggregate id, if same and blank otherwise", "body or its class", "argument", "default empty"),
        ("CMD-028", "CMD-037"),
    ),
    Precedence("space_id", ("body", "argument", "default empty"), ("CMD-002",)),
    Precedence("aggregate_version", ("0 for a create command", "body", "argument", "none"), ("CMD-028", "CMD-038")),
    Precedence("id", ("argument", "generated"), ("CMD-035",)),
    Precedence("request_id", ("argument", "message id"), ("CMD-040",)),
    Precedence("create_time", ("argument", "now"), ("CMD-052",)),
)


def to_command_message(
    body: C,
    *,
    origin: Origin,
    named_aggregate: NamedAggregate | str | None = None,
    aggregate_id: str | None = None,
    tenant_id: str | None = None,
    owner_id: str | None = None,
    space_id: str | None = None,
    aggregate_version: int | None = None,
    id: str | None = None,  # noqa: A002
    request_id: str | None = None,
    header: Mapping[str, str] | None = None,
    create_time: int | None = None,
    upstream: Upstream | None = None,
    owner_id_same_as_aggregate_id: bool = False,
    scopes: Scopes = DECLARED,
    propagators: tuple[Propagator, ...] = PROPAGATORS,
) -> CommandMessage[C]:
    """Build the message of a command body by the rules of `PRECEDENCE`.

    Args:
        body: the command.
        origin: where ids and the time come from.
        named_aggregate: the target's type, also as `context.aggregate`.
        aggregate_id: the target's id.
        tenant_id: the target's tenant.
        owner_id: the owner that the command acts for.
        space_id: the space that it acts in.
        aggregate_version: the expected version; 0 makes any command a create command (CMD-039).
        id: the message id.
        request_id: the request id.
        header: a `Header` is used itself, and written to; another mapping is copied (CMD-041).
        create_time: epoch milliseconds.
        upstream: the message that caused this one; its propagatable headers are copied first (CMD-042).
        owner_id_same_as_aggregate_id: an owner becomes the aggregate id, else the aggregate id becomes the owner.
        scopes: where a class that does not name its aggregate finds it.
        propagators: what is copied from the upstream message.

    Raises:
        IllegalArgumentError: if nothing names the aggregate (CMD-032).
        UnsupportedOperationError: if a read-only header would have to be written to.
    """
    metadata = command_metadata(type(body))
    try:
        metadata = metadata.in_scopes(scopes)
    except SpecError:
        # Several aggregates handle the command; whoever names one needs no answer which.
        if named_aggregate is None:
            raise
    message_id = origin.next_id() if id is None else id
    own_header = Header() if header is None else header if isinstance(header, Header) else Header(header)
    if upstream is not None:
        propagate(upstream, own_header, propagators)
    get_named = metadata.named_aggregate
    if named_aggregate is None and get_named is not None:
        named = get_named(body, scopes)
    else:
        named = _named_aggregate(body, named_aggregate)

    owner = owner_id if metadata.owner_id is None else _first(body, metadata.owner_id, owner_id)
    is_shared = owner_id_same_as_aggregate_id
    target = owner if is_shared and owner and not is_blank(owner) else _first(body, metadata.aggregate_id, aggregate_id)
    if target is None:
        target = origin.next_id()
    if is_shared:
        owner = target
    tenant = tenant_id if metadata.tenant_id is None else _first(body, metadata.tenant_id, tenant_id)
    space = space_id if metadata.space_id is None else _first(body, metadata.space_id, space_id)
    version = aggregate_version
    if metadata.is_create:
        version = 0
    elif metadata.aggregate_version is not None:
        version = _first(body, metadata.aggregate_version, aggregate_version)

    message = CommandMessage(
        message_id,
        body,
        make_ref((named.context_name, named.aggregate_name, target, DEFAULT_TENANT_ID if tenant is None else tenant)),
        metadata.name,
        message_id if request_id is None else request_id,
        own_header,
        DEFAULT_OWNER_ID if owner is None else owner,
        DEFAULT_SPACE_ID if space is None else space,
        version,
        metadata.is_create or version == 0,
        metadata.allow_create,
        metadata.is_void,
        origin.now_millis() if create_time is None else create_time,
    )
    ensure_trace_id(own_header, message_id)
    return message


def _first(body: Any, get: Callable[[Any], Any] | None, argument: Any) -> Any:
    """The body's value if it has one that is not None, else the argument (CMD-028, CMD-029)."""
    if get is None:
        return argument
    value = get(body)
    return argument if value is None else value


def _named_aggregate(body: Any, argument: NamedAggregate | str | None) -> NamedAggregate:
    if argument is not None:
        return to_named_aggregate(argument) if isinstance(argument, str) else argument
    cls = type(body)
    message = (
        f"{cls.__module__}.{cls.__qualname__} belongs to no aggregate: handle it in a command function, mount it with "
        f"@aggregate_root(commands=[{cls.__name__}]), or name the aggregate when you send it"
    )
    raise IllegalArgumentError(message)


def plain_command_message(
    body: C,
    aggregate_id: AggregateRef,
    *,
    origin: Origin,
    id: str | None = None,  # noqa: A002
) -> CommandMessage[C]:
    """A message made directly, past all rules but the name's: no flags, no version, no trace id (CMD-047)."""
    message_id = origin.next_id() if id is None else id
    name = command_metadata(type(body)).name
    return CommandMessage(message_id, body, aggregate_id, name, message_id, Header(), create_time=origin.now_millis())


# --- builder ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class CommandValues(Generic[C]):
    """What a builder holds; None is absent."""

    body: C
    id: str | None = None
    create_time: int | None = None
    header: Header = field(default_factory=Header)
    request_id: str | None = None
    named_aggregate: NamedAggregate | str | None = None
    aggregate_id: str | None = None
    tenant_id: str | None = None
    owner_id: str | None = None
    space_id: str | None = None
    aggregate_version: int | None = None
    upstream: Upstream | None = None
    owner_id_same_as_aggregate_id: bool = False


class CommandBuilder(Generic[C]):
    """Collects what a command message is built from; each setter returns the builder itself (CMD-053).

    With an origin, id and create time are fixed here; without one, when the message is built (CMD-052). Values of the
    body still win over those set here (CMD-056).
    """

    __slots__ = ("values",)

    def __init__(self, body: C, origin: Origin | None = None) -> None:
        self.values: CommandValues[C] = CommandValues(body)
        if origin is not None:
            self.values.id = origin.next_id()
            self.values.create_time = origin.now_millis()

    def body(self, value: C) -> Self:
        """Replace the body."""
        self.values.body = value
        return self

    def id(self, value: str | None) -> Self:
        """Set the message id; None means generated."""
        self.values.id = value
        return self

    def create_time(self, value: int | None) -> Self:
        """Set the create time in epoch milliseconds; None means now."""
        self.values.create_time = value
        return self

    def request_id(self, value: str | None) -> Self:
        """Set the request id; None means the message id."""
        self.values.request_id = value
        return self

    def request_id_if_absent(self, value: str) -> Self:
        """Set the request id unless there is one, which may be blank (CMD-054)."""
        return self if self.values.request_id is not None else self.request_id(value)

    def named_aggregate(self, value: NamedAggregate | str | None) -> Self:
        """Set the target's type, also as `context.aggregate`."""
        self.values.named_aggregate = value
        return self

    def aggregate_id(self, value: str | None) -> Self:
        """Set the target's id."""
        self.values.aggregate_id = value
        return self

    def tenant_id(self, value: str | None) -> Self:
        """Set the tenant."""
        self.values.tenant_id = value
        return self

    def tenant_id_if_absent(self, value: str) -> Self:
        """Set the tenant unless there is one, which may be blank (CMD-054)."""
        return self if self.values.tenant_id is not None else self.tenant_id(value)

    def owner_id(self, value: str | None) -> Self:
        """Set the owner."""
        self.values.owner_id = value
        return self

    def space_id(self, value: str | None) -> Self:
        """Set the space."""
        self.values.space_id = value
        return self

    def space_id_if_absent(self, value: str) -> Self:
        """Set the space unless there is one, which may be blank (CMD-054)."""
        return self if self.values.space_id is not None else self.space_id(value)

    def aggregate_version(self, value: int | None) -> Self:
        """Set the expected version."""
        self.values.aggregate_version = value
        return self

    def upstream(self, value: Upstream | None) -> Self:
        """Set the message that causes this one."""
        self.values.upstream = value
        return self

    def owner_id_same_as_aggregate_id(self, value: bool = True) -> Self:
        """Let owner and aggregate id be the same (CMD-036, CMD-037)."""
        self.values.owner_id_same_as_aggregate_id = value
        return self

    def header(self, value: Mapping[str, str] | Callable[[Header], object]) -> Self:
        """Replace the header, by reference if it is a `Header`; a function changes the current one (CMD-055)."""
        if callable(value):
            value(self.values.header)
        else:
            self.values.header = value if isinstance(value, Header) else Header(value)
        return self

    def add_header(self, entries: Mapping[str, str]) -> Self:
        """Write entries into the current header."""
        self.values.header.update(entries)
        return self

    def local_first(self, value: bool = True) -> Self:
        """Ask the bus to handle the command in this process if it can (CMD-055)."""
        write_local_first(self.values.header, value)
        return self

    def to_command_message(
        self, origin: Origin, *, scopes: Scopes = DECLARED, propagators: tuple[Propagator, ...] = PROPAGATORS
    ) -> CommandMessage[C]:
        """Build the message: each value is an argument of `to_command_message` (CMD-056)."""
        values = self.values
        return to_command_message(
            values.body,
            origin=origin,
            named_aggregate=values.named_aggregate,
            aggregate_id=values.aggregate_id,
            tenant_id=values.tenant_id,
            owner_id=values.owner_id,
            space_id=values.space_id,
            aggregate_version=values.aggregate_version,
            id=values.id,
            request_id=values.request_id,
            header=values.header,
            create_time=values.create_time,
            upstream=values.upstream,
            owner_id_same_as_aggregate_id=values.owner_id_same_as_aggregate_id,
            scopes=scopes,
            propagators=propagators,
        )

    def __repr__(self) -> str:
        return f"command_builder({self.values.body!r})"


def command_builder(body: C, origin: Origin | None = None) -> CommandBuilder[C]:
    """Start a command message: `command_builder(ReserveStock(...)).aggregate_id("s-1").owner_id("u-1")`."""
    return CommandBuilder(body, origin)
