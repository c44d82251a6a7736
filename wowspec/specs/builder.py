"""The given/when builder: an immutable spec; each verb gives a new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, overload

from ..errors import DefinitionError, SpecError
from ..faults.values import Fault
from ..modeling.aggregates import aggregate_metadata, is_aggregate
from ..modeling.deciders import Decided
from ..modeling.ordering import Order
from ..modeling.processors import is_processor
from ..runtime.chain import Filter, NamedFilter
from .expecting_conditions import ExpectingConditions
from .injecting import give, keep
from .items import (
    SentCommand,
    TimeStep,
    WaitingEnvelope,
    advance as advance_step,
    command_of,
    command_options,
    require_texts,
)
from .laws import require_law
from .nodes import (
    GivenState,
    History,
    Node,
    Setup,
    Step,
    Subject,
    When,
    WhenConcurrently,
    WhenEvent,
    WithFaults,
    WithoutLaw,
)
from .parts import join, members_of, profile_of, require_fault
from .refusals import refuse_coroutine, refuse_more_commands, require_command, require_command_class
from .render import BRIEF, render
from .saying import note_branch
from .session import Profile, Session
from .showing import step_text
from .takers import require_event
from .tracking import track

if TYPE_CHECKING:
    from .concurrent_spec import ConcurrentSpec

S = TypeVar("S")


class Spec(ExpectingConditions[S]):
    """A specification in the making: `given(...).when(...).expect_events(...)`.

    It is immutable, so two branches of one base never meet. A command runs once, at its first expectation, through the
    whole pipeline.
    """

    __slots__ = ()

    def _add(self, step: Step, name: str = "") -> Self:
        return self._with(track(self._node.add(step, name)), self._soft)

    # --- what is given ------------------------------------------------------------------------------------------------

    def given(self, *items: Any, deliver: bool = False) -> Self:
        """Add history: events (each a version), `stream(...)`, `on(T, id, ...)`, commands, `at(...)`, `advance(...)`.

        Args:
            items: what happened, in order. Commands are real ones and must succeed.
            deliver: whether the events are published, too; else they only stand in the store.
        """
        return self._add(History(items, deliver))

    def given_state(
        self,
        state: Any,
        version: int = 1,
        *,
        aggregate_id: str | None = None,
        owner_id: str = "",
        space_id: str = "",
        tenant_id: str | None = None,
    ) -> Self:
        """Start from a state at a version, as from its snapshot; its id is the state's own, or `aggregate_id`."""
        require_texts(
            "given_state", aggregate_id=aggregate_id, owner_id=owner_id, space_id=space_id, tenant_id=tenant_id
        )
        return self._add(GivenState(state, version, owner_id, space_id, tenant_id, aggregate_id))

    def advance(
        self, *, days: int = 0, hours: int = 0, minutes: int = 0, seconds: float = 0, milliseconds: int = 0
    ) -> Self:
        """Let virtual time pass; what is due on the way happens."""
        step: TimeStep = advance_step(
            days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds
        )
        return self._add(History((step,)))

    # --- the world ----------------------------------------------------------------------------------------------------

    def using(self, *parts: Any) -> Self:
        """Let aggregates, projections, event processors, sagas, or a whole `Context`, join the world.

        Raises:
            SpecError: for anything else.
        """
        members = members_of(parts, "using")

        def plan(world: Any) -> None:
            world.parts.extend(members)

        def apply(session: Session) -> None:
            for member in members:
                join(session, member)

        return self._add(Setup("using", apply, plan))

    def without(self, *parts: Any) -> Self:
        """Take parts out of the world again, such as one saga of a whole context; before the first command."""
        members = members_of(parts, "without")

        def plan(world: Any) -> None:
            world.excluded.extend(members)

        return self._add(Setup("without", _too_late("without", "its functions have subscribed already"), plan))

    def with_profile(self, profile: Profile | str) -> Self:
        """Choose what the world's ports can do: a name, or `profile(request_id_existence="noop")`."""
        chosen = profile_of(profile)

        def plan(world: Any) -> None:
            world.profile = chosen

        return self._add(Setup("with_profile", _too_late("with_profile", "its stores are made already"), plan))

    def with_filter(self, item: Filter, *, order: Order | None = None, name: str | None = None) -> Self:
        """Put a filter of your own into the command chain, where its order says; before the first command."""
        if isinstance(item, type) or not callable(getattr(item, "filter", None)):
            raise SpecError(
                f"with_filter({render(item, BRIEF)}) is given no filter",
                why="a filter is an object with `async def filter(self, exchange, next)`",
                instead="with_filter(MyFilter())",
            )
        named = NamedFilter(name or type(item).__name__, order or Order(), item)

        def plan(world: Any) -> None:
            world.filters.append(named)

        late = _too_late("with_filter", "every command of a world passes the same chain")
        return self._add(Setup("with_filter", late, plan))

    def inject(self, *services: Any, **by_name: Any) -> Self:
        """Give services to handlers: looked up by type first, then by name. Branches share them.

        One that was given before under the same name, or made by a factory of that class or name, is replaced.
        """
        _require_services("inject", services, by_name, "FakeService()")
        for what, service in [*enumerate(services), *by_name.items()]:
            if service is None:
                raise SpecError(
                    f"inject({what}=None)" if isinstance(what, str) else "inject(None)",
                    why="None supplies nothing: a handler that asks for it would be told that it is missing",
                    instead="inject(name=FakeService())",
                )

        def apply(session: Session) -> None:
            give(session, services, by_name)

        names = (*(type(service).__name__ for service in services), *by_name)
        return self._add(Setup("inject", apply, gives_services=True, kept=keep(services, by_name), names=names))

    def inject_factory(self, *factories: Callable[[], Any], **by_name: Callable[[], Any]) -> Self:
        """Give services that are made anew for each copy of the world."""
        _require_services("inject_factory", factories, by_name, "FakeService")
        named: list[tuple[Callable[[], Any], str | None]] = [(factory, None) for factory in factories]
        named += [(factory, name) for name, factory in by_name.items()]
        for factory, name in named:
            if not callable(factory):
                raise SpecError(
                    f"inject_factory({name + '=' if name else ''}{render(factory, BRIEF)}) is given no factory",
                    why="a factory is called for each copy of the world, and makes a fresh service",
                    instead=f"inject_factory({name + '=' if name else ''}{type(factory).__name__}), or inject(...), "
                    "which lets branches share one object",
                )

        def apply(session: Session) -> None:
            session.factories.extend(named)
            for factory, name in named:
                session.provide(factory(), name)

        names = tuple(name or getattr(factory, "__name__", "service") for factory, name in named)
        return self._add(Setup("inject_factory", apply, gives_services=True, names=names))

    def with_faults(self, *faults: Fault) -> Self:
        """Arm faults for the commands that follow: `with_faults(faults.event_store.append.fails())`.

        Raises:
            SpecError: for anything that is no fault.
        """
        for fault in faults:
            require_fault(fault, "with_faults")
        return self._add(WithFaults(faults))

    def without_law(self, *names: str) -> Self:
        """Do not check these laws from here on: `without_law("replay_equality")`."""
        spec = self
        for name in names:
            require_law(name)
            spec = spec._add(WithoutLaw(name))
        return spec

    # --- commands -----------------------------------------------------------------------------------------------------

    @overload
    def when(self, command: type, /, **fields: Any) -> Self: ...
    @overload
    def when(self, command: object, /, **options: Unpack[WaitingEnvelope]) -> Self: ...
    def when(self, command: Any, /, *more: Any, **options: Any) -> Self:
        """Send a command through the gateway and the whole pipeline.

        Args:
            command: a command; a command class with its fields as keywords, built at the gateway's boundary;
                `command_of(...)`; or a function of the run so far that gives a command.
            more: nothing; several commands are refused, with what to write for them.
            options: with a command: `aggregate_id=`, `tenant_id=`, `owner_id=`, `space_id=`, `request_id=`,
                `expected_version=`, `header=`, `wait_for=`. With a class: its fields.
        """
        __tracebackhide__ = True
        if more:
            refuse_more_commands(command, more)
        if isinstance(command, type):
            if is_aggregate(command) or is_processor(command):
                raise SpecError(
                    f"when({command.__name__}) is given an aggregate root or a processor",
                    why="when(...) sends a command",
                    instead="when(SomeCommand(...))",
                )
            require_command_class(command)
            return self._add(When(command_of(command, **options), command_options({})))
        require_command(command)
        return self._add(When(command, command_options(options)))

    def when_event(
        self,
        event: Any,
        /,
        *,
        state: Any = None,
        function: str | None = None,
        aggregate_id: str | None = None,
        tenant_id: str | None = None,
        owner_id: str = "",
        space_id: str = "",
    ) -> Self:
        """Let an event reach the functions of a saga, event processor or projection; it is published, not stored.

        Args:
            event: the event's body, or a whole `DomainEvent`.
            state: the state after it; then state-event functions take it.
            function: the only function that may take it, by name.
            aggregate_id: of the event's aggregate; default: the event's own, the state's, the one last spoken of, else
                a new one.
            tenant_id: likewise.
            owner_id: owner that the event names.
            space_id: space that it names.
        """
        require_event(event)
        require_texts(
            "when_event", aggregate_id=aggregate_id, tenant_id=tenant_id, owner_id=owner_id, space_id=space_id
        )
        return self._add(WhenEvent(event, state, function, aggregate_id, tenant_id, owner_id, space_id))

    def when_concurrently(
        self,
        *commands: Any,
        processes: int = 1,
        schedule: str | None = None,
        max_schedules: int = 1_000,
        max_preemptions: int | None = None,
    ) -> ConcurrentSpec[S]:
        """Send commands that are in flight together, in every order that makes a difference.

        Each order is run on a copy of the world; what is injected is copied, too.

        Args:
            commands: two or more, also as `sent_as(command, owner_id=...)` and `command_of(Withdraw, amount=0)`.
            processes: 2: two processes that share the stores, so that only the version check keeps the commands apart.
            schedule: runs this order alone, such as `"0.2.1"`, as a failure prints it.
            max_schedules: how many orders to run at most.
            max_preemptions: how often an order may put a task before others that were ready first; None: any number.
        """
        from .concurrency import require_flight
        from .concurrent_spec import ConcurrentSpec

        require_flight(commands, processes, schedule, max_schedules, max_preemptions)
        sent = []
        for item in commands:
            one = item if isinstance(item, SentCommand) else SentCommand(item, command_options({}))
            require_command(one.command)
            sent.append(one)
        step = WhenConcurrently(tuple(sent), processes, schedule, max_schedules, max_preemptions)
        return ConcurrentSpec(track(self._node.add(step)))

    # --- branches -----------------------------------------------------------------------------------------------------

    def fork(self, name: str, branch: Callable[[Self], Any]) -> Self:
        """Go on in a branch of its own, on a copy of the world; failures carry its name. Gives this spec back.

        Args:
            name: the branch's name.
            branch: gets the spec to go on with.
        """
        __tracebackhide__ = True
        if not callable(branch):
            raise SpecError(
                f"fork({render(name, BRIEF)}, {render(branch, BRIEF)})",
                why="a branch is a function that goes on with the spec",
                instead="fork('paid twice', lambda spec: spec.when(...).expect_error(...))",
            )
        said: Any = name
        if not isinstance(said, str) or not said.strip():
            raise SpecError(
                f"fork({name!r}, ...)",
                why="a branch is told by its name where it fails",
                instead="fork('paid twice', lambda spec: spec.when(...).expect_error(...))",
            )
        node = track(self._node.add(Setup("fork", _nothing), name))
        try:
            refuse_coroutine(branch(self._with(node, self._soft)), "a branch")
        except Exception as error:
            node.judged = True
            note_branch(error, node.branch_names())
            raise
        return self

    def __repr__(self) -> str:
        return f"<{'.'.join(step_text(node) for node in self._node.path())}>"


def _require_services(verb: str, given: Sequence[Any], by_name: Mapping[str, Any], example: str) -> None:
    if not given and not by_name:
        raise SpecError(
            f"{verb}() gives no service",
            why="it reads as if handlers were given something",
            instead=f"{verb}({example}), or {verb}(name={example})",
        )


def _nothing(session: Session) -> None:
    """For a step that says something of the world before it is made, or opens a branch."""


def _too_late(verb: str, why: str) -> Callable[[Session], None]:
    """What a verb that shapes a fresh world does to one that is there already."""

    def refuse(session: Session) -> None:  # noqa: ARG001
        raise SpecError(
            f"{verb}(...) after the world was made", why=why, instead=f".{verb}(...) before the first when(...)"
        )

    return refuse


@overload
def spec() -> Spec[Any]: ...
@overload
def spec(subject: type[Decided[S]], /) -> Spec[S]: ...
@overload
def spec(subject: Callable[[str], S], /) -> Spec[S]: ...
@overload
def spec(subject: Callable[[S], Any], /) -> Spec[S]: ...
@overload
def spec(subject: type[S], /) -> Spec[S]: ...  # pyright: ignore[reportOverlappingOverload]
def spec(subject: Any = None, /) -> Spec[Any]:
    """A spec of an aggregate root (or, without one, of whatever types it mentions).

    Raises:
        DefinitionError: if the class is no legal aggregate root.
    """
    if subject is not None:
        if is_aggregate(subject):
            aggregate_metadata(subject)
        elif not is_processor(subject):
            shown = getattr(subject, "__name__", repr(subject))
            raise DefinitionError(
                f"spec({shown}): {shown} is no aggregate root",
                why="a spec is about an aggregate's history and commands",
                instead=f'@aggregate_root(context="...") above class {shown}'
                if isinstance(subject, type)
                else "spec(Order), with an aggregate root's class",
            )
    return Spec(track(Node(None, Subject(subject))))


def given(*items: Any, deliver: bool = False) -> Spec[Any]:
    """Begin a spec with what happened before: `given(OrderCreated(...)).when(PayOrder(...)).expect_events(...)`.

    Args:
        items: history, as in `Spec.given`; a processor class first makes the spec about it.
        deliver: whether the events are published, too.
    """
    subject = None
    if items and isinstance(items[0], type) and (is_processor(items[0]) or is_aggregate(items[0])):
        subject, items = items[0], items[1:]
    root = spec(subject) if subject is not None else spec()
    return root.given(*items, deliver=deliver)
