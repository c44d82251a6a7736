"""The steps of a spec, as data: an immutable tree in which each verb adds a leaf.

A node knows its parent and what it adds, nothing of worlds; `session.py` runs the way from the root to a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import SpecError
from ..faults.values import Fault
from .items import CommandOptions, SentCommand
from .recorded import Call, Condition, Expected

if TYPE_CHECKING:
    from .run import Run


@dataclass(frozen=True, slots=True)
class Subject:
    """What a spec is about, as its first word says: an aggregate root, a processor, or nothing in particular."""

    cls: type | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """Services as they were before anybody used them, for runs that come later.

    Attributes:
        services: copies of those that were given by type.
        by_name: copies of those that were given by name.
        give: gives services to a session.
        error: says which of them cannot be copied, if one cannot.
    """

    services: tuple[Any, ...]
    by_name: dict[str, Any]
    give: Callable[[Any, Sequence[Any], dict[str, Any]], None]
    error: SpecError | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """Something that makes or changes the world before the next step: parts, services, profile, filters.

    Attributes:
        verb: the verb of the spec.
        apply: does it to a session.
        plan: does it to the plan of a world that is still to be made.
        gives_services: whether processors that join a fresh world may ask for what it gives.
        kept: the services that it gives, if they are kept.
        names: what stands in for whom: names of the services that it gives, or of their classes.
    """

    verb: str
    apply: Callable[[Any], None]
    plan: Callable[[Any], None] | None = None
    gives_services: bool = False
    kept: Kept | None = None
    names: tuple[str, ...] = ()

    @property
    def shapes_fresh_world(self) -> bool:
        """Whether a fresh world was made with it, so that nothing is left to do there."""
        return self.gives_services or self.plan is not None


@dataclass(frozen=True, slots=True)
class History:
    """Items of `given(...)`."""

    items: tuple[Any, ...]
    deliver: bool = False


@dataclass(frozen=True, slots=True)
class GivenState:
    """A state to start from, at a version."""

    state: Any
    version: int
    owner_id: str
    space_id: str
    tenant_id: str | None
    aggregate_id: str | None


@dataclass(frozen=True, slots=True)
class WithFaults:
    """Faults, armed when the next command is about to be sent."""

    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class WithoutLaw:
    """A law that is not checked from here on."""

    name: str


@dataclass(frozen=True, slots=True)
class When:
    """A command, or a function of the run so far that makes one."""

    command: Any
    options: CommandOptions


@dataclass(frozen=True, slots=True)
class WhenEvent:
    """An event that reaches the functions of the subject and of whatever else the world uses.

    Attributes:
        event: its body, or None: nothing but what was given reaches them.
        state: the state after it; then it is a state event.
        function: the only function that may take it, by name.
        aggregate_id: of the event's aggregate.
        tenant_id: likewise.
        owner_id: what the event says of the owner.
        space_id: what it says of the space.
    """

    event: Any = None
    state: Any = None
    function: str | None = None
    aggregate_id: str | None = None
    tenant_id: str | None = None
    owner_id: str = ""
    space_id: str = ""


@dataclass(frozen=True, slots=True)
class WhenConcurrently:
    """Commands that are in flight together.

    Attributes:
        commands: the commands, each with its options.
        processes: in how many processes; the first command is sent in the first one, and so on, in turn.
        schedule: the only schedule to run; None: all of them, up to the bounds.
        max_schedules: how many runs to make at most.
        max_preemptions: how many preemptions a schedule may have; None: any number.
    """

    commands: tuple[SentCommand, ...]
    processes: int
    schedule: str | None
    max_schedules: int
    max_preemptions: int | None


Step = Subject | Setup | History | GivenState | WithFaults | WithoutLaw | When | WhenEvent | WhenConcurrently
#: The steps that run something, and so leave a `Run`, or several.
ACTIONS = (When, WhenEvent, WhenConcurrently)


class Driver(Protocol):
    """Runs the steps of specs under a plan, for whoever explores failures; the explorer judges, not the spec."""

    @property
    def judges(self) -> bool:
        """Whether expectations are left to it, since they speak of the fault-free run."""
        ...

    def run_of(self, node: Node) -> Run:
        """The run of a step that runs something."""
        ...


@dataclass(slots=True, eq=False)
class Node:
    """One step after another.

    Attributes:
        parent: the step before; None at the root.
        step: what is added.
        name: the branch it opens, if any.
        has_child: whether a later step was added.
        judged: whether an expectation looked at its run.
        run: what came of it, once it ran.
        runs: for a step with several outcomes: a run of each of them.
        place: where the author wrote it: file and line, as text.
        settled: for a spec of a projection: the step that lets what is given reach it.
        calls: what was expected after it and held; see `expected`.
        broken: the last expectation after it that did not hold, for reports; `Expected(*broken)` reads it.
        driver: runs the steps instead of the spec itself, under a plan of faults; handed on to what is added.
    """

    parent: Node | None
    step: Step
    name: str = ""
    has_child: bool = False
    judged: bool = False
    run: Run | None = None
    runs: Sequence[Run] = ()
    place: object = ""
    settled: Node | None = None
    calls: list[Call] | None = None
    broken: Call | None = None
    driver: Driver | None = None

    @property
    def expected(self) -> list[Expected]:
        """The expectations that stand right after this step and held, in the order of their calls."""
        return [Expected(*call) for call in self.calls or ()]

    @property
    def conditions(self) -> list[Condition]:
        """Those among them that say what must hold always, or in the end."""
        return [condition for item in self.expected if (condition := item.condition) is not None]

    def path(self) -> list[Node]:
        """The steps from the root to this one."""
        nodes: list[Node] = [self]
        while (parent := nodes[-1].parent) is not None:
            nodes.append(parent)
        nodes.reverse()
        return nodes

    def back(self) -> Iterator[Node]:
        """This step and those before it, latest first."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def last_when(self) -> Node | None:
        """The latest step at or before this one that runs something."""
        node: Node | None = self
        while node is not None and not isinstance(node.step, ACTIONS):
            node = node.parent
        return node

    def branch_names(self) -> list[str]:
        """Names of the branches that lead here, outermost first."""
        return [node.name for node in self.path() if node.name]

    def where(self) -> str:
        """Begins a text about this step: where the author wrote it, in which branch; empty where neither is known."""
        names = self.branch_names()
        place = f"{self.place}: " if self.place else ""
        return f"{place}in branch {' > '.join(names)}: " if names else place

    def add(self, step: Step, name: str = "") -> Node:
        """A new leaf."""
        self.has_child = True
        return Node(self, step, name, driver=self.driver)
