"""What the system under test could do otherwise: one table of perturbations, each addressed as the faults of plans are.

A deed is something that its code did once in a run: an event that a command function returned, an error that it
raised, a check that refused, a command that a saga function returned, a sourcing function or a function of a projection
that was called. Each row of the table says how a deed of its sort can be perturbed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ..errors import IllegalArgumentError, IllegalStateError, WowError
from ..messages.commands import CommandBuilder
from ..messages.envelopes import CommandMessage
from ..modeling.states import StateMetadata
from ..specs.render import BRIEF, render
from ..world.copying import copied_error
from .alterations import Alteration, alterations, fields_of


class Target(StrEnum):
    """The sort of a deed."""

    EVENT = "event"
    ERROR = "error"
    CHECK = "check"
    SOURCING = "sourcing"
    COMMAND = "command"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class Deed:
    """What the system under test did once.

    Attributes:
        target: its sort.
        chain: what led to it, as in a plan's address; empty for a sourcing function, which is called at every load.
        function: class and method; of a check the class of the command that it refused.
        index: the place among what the function returned in this call.
        value: the event, the error, the name of the check, the saga's command, the event class that was sourced, the
            event that reached a function.
        beside: all that the function returned in this call; of an error the command that it was raised for.
        events: event classes that may take its place: those of the aggregate; of an error those of the function.
        state: of a sourcing function: of which state class.
    """

    target: Target
    chain: str
    function: str
    index: int = 0
    value: Any = None
    beside: tuple[Any, ...] = ()
    events: tuple[type, ...] = ()
    state: StateMetadata | None = None

    @property
    def key(self) -> tuple[Target, str, str, int]:
        """Equal for the same deed in another run of the same steps."""
        return self.target, self.chain, self.function, self.index


@dataclass(frozen=True, slots=True)
class Change:
    """What takes the place of a deed.

    Attributes:
        path: of what is changed within a message, such as `.amount`.
        how: what happens to it.
        detail: from what to what, if that says anything.
        instead: what the function returns in place of it, or raises.
        width: in place of how many of those that it returned.
    """

    path: str
    how: str
    detail: str = ""
    instead: tuple[Any, ...] = ()
    width: int = 1


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A deed and what takes its place.

    Attributes:
        deed: the deed.
        row: name of the row of `PERTURBATIONS`.
        change: what takes its place.
    """

    deed: Deed
    row: str
    change: Change

    @property
    def kind(self) -> str:
        """Of which sort, for counts: `event altered`."""
        return f"{self.deed.target} {self.row}"

    @property
    def name(self) -> str:
        """The same in every spec that reaches the function: `Order.pay → OrderPaid.amount altered`."""
        deed, change = self.deed, self.change
        if deed.target is Target.CHECK:
            return f"{deed.function}: check {deed.value!r} {change.how}"
        if deed.target is Target.SOURCING:
            return f"{deed.function}: {deed.value.__name__} {change.how}"
        if deed.target is Target.FUNCTION:
            return f"{deed.function}: {type(deed.value).__name__} {change.how}"
        return f"{deed.function} → {_sort(body_of(deed.value))}{change.path} {change.how}"

    @property
    def address(self) -> str:
        """Where in the run of one spec: `PlaceOrder/event[0].total altered`."""
        deed, change = self.deed, self.change
        if deed.target is Target.SOURCING:
            return self.name
        places = {
            Target.ERROR: "error",
            Target.CHECK: f"check[{deed.value}]",
            Target.FUNCTION: deed.function.rpartition(".")[2],
        }
        place = places.get(deed.target, f"{deed.target}[{deed.index}]")
        return f"{deed.chain}/{place}{change.path} {change.how}"


@dataclass(frozen=True, slots=True)
class PerturbationRow:
    """One way to perturb deeds of one sort.

    Attributes:
        name: what happens.
        target: the sort.
        changes: what can take the place of a deed: none where the row does not apply.
    """

    name: str
    target: Target
    changes: Callable[[Deed], Iterator[Change]]


def body_of(value: Any) -> Any:
    """The command in what a saga returned: a body, its builder, or a ready message; anything else itself."""
    if isinstance(value, CommandBuilder):
        return value.values.body
    return value.body if isinstance(value, CommandMessage) else value


def _sort(value: Any) -> str:
    """The class; of an error its code too, since one class may stand for several reasons."""
    code = getattr(value, "error_code", None) if isinstance(value, BaseException) else None
    return f"{type(value).__name__}[{code}]" if isinstance(code, str) else type(value).__name__


# --- events -----------------------------------------------------------------------------------------------------------


def _dropped(deed: Deed) -> Iterator[Change]:  # noqa: ARG001
    yield Change("", "dropped")


def _doubled(deed: Deed) -> Iterator[Change]:
    yield Change("", "doubled", instead=(deed.value, deed.value))


def _exchanged(deed: Deed) -> Iterator[Change]:
    following = deed.beside[deed.index + 1 : deed.index + 2]
    if following and not _same(following[0], deed.value):
        other = following[0]
        yield Change("", f"exchanged with {type(other).__name__}", instead=(other, deed.value), width=2)


def _replaced(deed: Deed) -> Iterator[Change]:
    """Another event class of the aggregate, which the fields of this one make."""
    for other in _made_of(deed.value, deed.events):
        yield Change("", f"replaced by {type(other).__name__}", instead=(other,))
        return


def _made_of(message: Any, classes: tuple[type, ...]) -> Iterator[Any]:
    """Messages of other classes that can be made of the fields of this one: those that take most of them first."""
    fields = {name: value for name, value, _ in fields_of(message)}
    taken = {other: fields.keys() & _parameters(other) for other in classes if other is not type(message)}
    for other in sorted(taken, key=lambda each: -len(taken[each])):
        try:
            made = other(**{name: value for name, value in fields.items() if name in taken[other]})
        except Exception:  # noqa: BLE001, S112 - its class wants something else
            continue
        yield made


def _parameters(cls: Any) -> set[str]:
    fields = getattr(cls, "model_fields", None) or getattr(cls, "__dataclass_fields__", None)
    if fields is not None:
        return set(fields)
    code = getattr(cls.__init__, "__code__", None)
    return set(code.co_varnames[: code.co_argcount]) if code is not None else set()


def _altered(deed: Deed) -> Iterator[Change]:
    for item in alterations(deed.value):
        yield Change(item.path, item.how, _from_to(item), (item.message,))


def _from_to(item: Alteration) -> str:
    return f"{render(item.was, BRIEF)} → {render(item.now, BRIEF)}"


def _same(one: Any, two: Any) -> bool:
    try:
        return type(one) is type(two) and bool(one == two)
    except Exception:  # noqa: BLE001 - a comparison of the author's
        return False


# --- errors -----------------------------------------------------------------------------------------------------------


class OtherError(WowError):
    """Stands in for an error of whatever class."""


def _class_replaced(deed: Deed) -> Iterator[Change]:
    """Another class, with the same text and, where it can be, the same code."""
    error = deed.value
    code = getattr(error, "error_code", None)
    text = getattr(error, "error_msg", None) or str(error)
    if isinstance(code, str):
        other: Exception = OtherError(text, error_code=code)
    else:
        other = IllegalArgumentError(text) if isinstance(error, IllegalStateError) else IllegalStateError(text)
    yield Change("", "replaced by one of another class", instead=(other,))


def _code_replaced(deed: Deed) -> Iterator[Change]:
    code = getattr(deed.value, "error_code", None)
    if isinstance(code, str):
        other = copied_error(deed.value)
        if other is deed.value:
            return
        try:
            other.error_code = f"Not{code}"
        except AttributeError:
            return
        yield Change(".code", "altered", f"{code} → Not{code}", (other,))


def _text_replaced(deed: Deed) -> Iterator[Change]:
    error = deed.value
    was = str(error)
    other = copied_error(error)
    if other is error:
        return
    for name in ("error_msg", "error_message", "message"):
        if isinstance(vars(other).get(name), str):
            setattr(other, name, _OTHER_TEXT)
    other.args = tuple(_OTHER_TEXT if arg == was else arg for arg in error.args)
    if was and str(other) != was and type(other) is type(error):
        yield Change(".text", "altered", render(was, BRIEF), (other,))


_OTHER_TEXT: Final = "another text"


def _passed_over(deed: Deed) -> Iterator[Change]:
    """As if what raised were not there: an event that the function returns otherwise, made of the command's fields."""
    for event in _made_of(deed.beside[0], deed.events):
        yield Change("", f"passed over, {type(event).__name__} follows", instead=(event,))
        return


# --- commands of sagas ------------------------------------------------------------------------------------------------


def _command_altered(deed: Deed) -> Iterator[Change]:
    """A field of a body, whether it came alone or in a builder; a ready message has its id from it already."""
    value = deed.value
    if isinstance(value, CommandMessage):
        return
    for item in alterations(body_of(value)):
        message = item.message
        if isinstance(value, CommandBuilder):
            builder: CommandBuilder[Any] = CommandBuilder(message)
            builder.values = copy.copy(value.values)
            message = builder.body(item.message)
        yield Change(item.path, item.how, _from_to(item), (message,))


def _skipped(deed: Deed) -> Iterator[Change]:
    yield Change("", "not sourced" if deed.target is Target.SOURCING else "skipped")


#: All of them. What a row says of a deed is found in a run without perturbations, and holds for its reruns.
PERTURBATIONS: tuple[PerturbationRow, ...] = (
    PerturbationRow("dropped", Target.EVENT, _dropped),
    PerturbationRow("doubled", Target.EVENT, _doubled),
    PerturbationRow("exchanged", Target.EVENT, _exchanged),
    PerturbationRow("replaced", Target.EVENT, _replaced),
    PerturbationRow("altered", Target.EVENT, _altered),
    PerturbationRow("dropped", Target.ERROR, _dropped),
    PerturbationRow("passed over", Target.ERROR, _passed_over),
    PerturbationRow("replaced", Target.ERROR, _class_replaced),
    PerturbationRow("code altered", Target.ERROR, _code_replaced),
    PerturbationRow("text altered", Target.ERROR, _text_replaced),
    PerturbationRow("skipped", Target.CHECK, _skipped),
    PerturbationRow("skipped", Target.SOURCING, _skipped),
    PerturbationRow("dropped", Target.COMMAND, _dropped),
    PerturbationRow("altered", Target.COMMAND, _command_altered),
    PerturbationRow("skipped", Target.FUNCTION, _skipped),
)


def perturbations_of(deeds: list[Deed]) -> Iterator[Perturbation]:
    """Every perturbation of what was done, deed by deed, in the order of the table."""
    for deed in deeds:
        for row in PERTURBATIONS:
            if row.target is deed.target:
                for change in row.changes(deed):
                    yield Perturbation(deed, row.name, change)
