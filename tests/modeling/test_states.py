"""State classes: how they are made, where their id is, which function applies which event."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, NewType

import pytest
from pydantic import BaseModel

from wowspec.errors import DefinitionError
from wowspec.modeling.aggregates import aggregate_metadata, aggregate_root
from wowspec.modeling.annotations import AggregateId, TenantId
from wowspec.modeling.decorators import on_sourcing
from wowspec.modeling.functions import First, Namespace, UnresolvedAnnotation
from wowspec.modeling.identity import AggregateRef
from wowspec.modeling.states import StateAggregateAware, TagsExtractor, VersionAware, state_metadata

if TYPE_CHECKING:
    from decimal import Decimal

REF = AggregateRef("bank", "ledger", "acc-1", "east")


class Opened(BaseModel):
    """An event."""


class OpenedLoudly(Opened):
    """A subclass of it."""


class Closed(BaseModel):
    """Another event."""


class PydanticState(BaseModel):
    """Takes its id."""

    LIMIT: ClassVar[int] = 3
    id: str
    balance: int = 0


@dataclass
class DataclassState:
    """Takes its id."""

    id: str
    log: list[str] = field(default_factory=list)


class PlainState:
    """Takes its id without saying what it is."""

    def __init__(self, id):
        self.id = id


class TenantState(BaseModel):
    """Takes id and tenant."""

    id: str
    tenant_id: str


@dataclass
class MarkedState:
    """Says by markers what is what."""

    ledger: Annotated[str, AggregateId()]
    where: Annotated[str, TenantId()] = ""


class OptionalState(BaseModel):
    """Would do without, but takes both."""

    id: str = ""
    tenant_id: str = ""


class OpenState:
    """Takes whatever else there is."""

    def __init__(self, id: str, *more: str, **others: int) -> None:
        self.id = id
        assert not more
        assert not others


class BareState:
    """Takes nothing."""

    def __init__(self) -> None:
        self.balance = 0


@pytest.mark.clause("STA-026", "CMD-189", "TCK-009")
@pytest.mark.parametrize(
    ("cls", "made"),
    [
        (PydanticState, {"id": "acc-1", "balance": 0}),
        (DataclassState, {"id": "acc-1", "log": []}),
        (PlainState, {"id": "acc-1"}),
        (TenantState, {"id": "acc-1", "tenant_id": "east"}),
        (MarkedState, {"ledger": "acc-1", "where": "east"}),
        (OptionalState, {"id": "acc-1", "tenant_id": "east"}),
        (OpenState, {"id": "acc-1"}),
        (BareState, {"balance": 0}),
    ],
)
def test_a_blank_state_is_made_from_what_its_constructor_takes(cls, made):
    """Id, id and tenant, or nothing: whatever the constructor takes."""
    assert vars(state_metadata(cls).create(REF)) == made


class AccountState:
    """Is its own aggregate root, perhaps; its one parameter has a name of its own."""

    def __init__(self, account_id: str) -> None:
        self.account_id = account_id


@pytest.mark.clause("STA-026")
def test_a_single_parameter_that_ends_in_id_is_the_id():
    """`account_id` alone is the aggregate's id."""
    assert state_metadata(AccountState).create(REF).account_id == "acc-1"


@pytest.mark.clause("STA-026")
def test_other_required_parameters_are_refused():
    """A state that cannot be made from ids says which parameters stand in the way."""

    class Needy(BaseModel):
        id: str
        holder: str
        limit: int

    with pytest.raises(DefinitionError) as caught:
        state_metadata(Needy)
    assert str(caught.value) == (
        "Needy cannot be made for a new aggregate: its constructor needs holder, limit\n"
        "  why: the runtime makes a blank state as Needy(id=...), with tenant_id=... where it takes it, or as Needy()\n"
        "  instead: give each other parameter a default, and set it in the sourcing function of the first event"
    )


def test_a_lone_text_that_is_no_id_is_refused():
    """One required parameter of another name does not silently get the id."""

    class Holder(BaseModel):
        holder: str

    with pytest.raises(DefinitionError, match="its constructor needs holder"):
        state_metadata(Holder)


@dataclass
class SecretlyTyped:
    """A field's type is known to type checkers alone."""

    id: str
    price: Decimal | None = None


def test_a_default_of_unknown_type_does_not_matter():
    """What cannot be resolved stops nothing where it is not needed."""
    assert state_metadata(SecretlyTyped).create(REF) == SecretlyTyped("acc-1")


class HiddenTypes:
    """Types that only a type checker knows, of an id and of something that is needed."""

    def __init__(self, id: Decimal) -> None:
        self.id = id


class HiddenNeed:
    """A parameter whose type may yet turn out to be marked."""

    def __init__(self, key: Decimal) -> None:
        self.key = key


def test_an_unknown_type_matters_where_it_may_be_marked():
    """An `id` needs no type; another required parameter is waited for."""
    assert state_metadata(HiddenTypes).create(REF).id == "acc-1"
    with pytest.raises(UnresolvedAnnotation):
        state_metadata(HiddenNeed)


CartId = NewType("CartId", str)


class NewTypeState(BaseModel):
    """Its id is a text of a type of its own."""

    id: CartId = CartId("")


class HolderState(BaseModel):
    """Has texts, but no id among them."""

    holder: str = ""


class PropertyState:
    """Shows its id by a marked property."""

    def __init__(self, id: str) -> None:
        self._it = id

    @property
    def key(self) -> Annotated[str, AggregateId()]:
        """The id."""
        return self._it


class BothState(BaseModel):
    """Has an `id`, but another field is marked."""

    id: str = ""
    ledger: Annotated[str, AggregateId()] = ""


class NumberState(BaseModel):
    """Its `id` is no text."""

    id: int = 0


@pytest.mark.clause("STA-027")
@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (PydanticState, "id"),
        (DataclassState, "id"),
        (MarkedState, "ledger"),
        (PropertyState, "key"),
        (BothState, "ledger"),
        (NewTypeState, "id"),
        (BareState, None),
        (HolderState, None),
        (NumberState, None),
    ],
)
def test_where_the_id_is(cls, name):
    """The marked text, else a text named id, else nowhere."""
    assert state_metadata(cls).id_name == name


class FarState(BaseModel):
    """Marks one of its attributes."""

    alpha: Annotated[str, AggregateId()] = ""
    id: str = ""


class NearState(FarState):
    """Marks another one."""

    beta: Annotated[str, AggregateId()] = ""


class InheritingState(NearState):
    """Has both."""


class OverridingState(NearState):
    """Declares an inherited one again."""

    beta: str = ""


@pytest.mark.clause("STA-027")
def test_of_two_marked_attributes_the_own_one_is_the_id():
    """Own ones come first, also where only a base marks them; inherited ones go by name, however far away."""
    assert state_metadata(NearState).id_name == "beta"
    assert state_metadata(InheritingState).id_name == "alpha"
    assert state_metadata(OverridingState).id_name == "beta"


@pytest.mark.clause("STA-027")
def test_id_of_a_state():
    """The id that a state object carries; a plain class's attribute counts too, a number does not."""
    assert state_metadata(PlainState).id_of(PlainState("x")) == "x"
    assert state_metadata(PropertyState).id_of(PropertyState("x")) == "x"
    assert state_metadata(BareState).id_of(BareState()) is None
    assert state_metadata(NumberState).id_of(NumberState()) is None


class SourcedBase:
    """Declares functions that a subclass inherits, and one that counts here alone."""

    @on_sourcing
    def _private(self, event: Closed) -> None: ...

    @on_sourcing
    def zebra(self, event: Opened) -> None: ...


class Sourced(SourcedBase):
    """Two more claim the same event."""

    @on_sourcing
    def antelope(self, event: Opened) -> None: ...

    def on_sourcing(self, event: Opened) -> None: ...


@pytest.mark.clause("STA-021")
def test_the_first_in_order_of_names_wins():
    """Neither declaration nor convention decides between two functions for one event."""
    assert {cls: found.name for cls, found in state_metadata(Sourced).functions.items()} == {Opened: "antelope"}
    assert state_metadata(SourcedBase).functions[Opened].name == "zebra"


@pytest.mark.clause("STA-021")
def test_own_functions_come_before_inherited_ones():
    """A class has the first word on what it sources; the functions of all its bases follow, by name."""

    class Far:
        id: str

        @on_sourcing
        def alder(self, event: Opened) -> None: ...

        @on_sourcing
        def beech(self, event: Closed) -> None: ...

    class Near(Far):
        @on_sourcing
        def cedar(self, event: Closed) -> None: ...

    class Own(Near):
        @on_sourcing
        def willow(self, event: Opened) -> None: ...

    found = state_metadata(Own, Namespace(locals())).functions
    assert {cls: handler.name for cls, handler in found.items()} == {Opened: "willow", Closed: "beech"}


@pytest.mark.clause("STA-021")
def test_a_private_function_counts_where_it_is_declared():
    """The class that declares it has it, a subclass does not."""
    assert state_metadata(SourcedBase).functions[Closed].name == "_private"
    assert Closed not in state_metadata(Sourced).functions


@pytest.mark.clause("STA-017")
def test_functions_are_kept_by_exact_class():
    """A subclass of a handled event has no function."""
    assert OpenedLoudly not in state_metadata(Sourced).functions
    assert state_metadata(Sourced).event_classes == (Opened,)


class UnionState(BaseModel):
    """One function for two events."""

    id: str

    def on_sourcing(self, event: Opened | Closed) -> None: ...


@pytest.mark.clause("STA-021")
def test_a_union_claims_each_of_its_classes():
    """One function may apply several classes of events, each exactly."""
    functions = state_metadata(UnionState).functions
    assert set(functions) == {Opened, Closed}
    assert functions[Opened].first is First.BODY


@pytest.mark.clause("STA-021")
def test_a_function_found_by_name_has_one_parameter():
    """With more it would be overlooked silently in the runtime, so it is refused here."""

    class TwoParameters:
        def on_sourcing(self, event: Opened, extra: str) -> None: ...

    with pytest.raises(DefinitionError, match="takes 2 parameters"):
        state_metadata(TwoParameters, Namespace())


@pytest.mark.clause("STA-020")
@pytest.mark.parametrize("kind", ["async", "generator", "async generator"])
def test_a_function_whose_body_would_never_run_is_refused(kind):
    """What a sourcing function returns is ignored, a coroutine too."""

    class Async:
        async def on_sourcing(self, event: Opened) -> None: ...

    class Generator:
        def on_sourcing(self, event: Opened):
            yield

    class AsyncGenerator:
        async def on_sourcing(self, event: Opened):
            yield

    cls = {"async": Async, "generator": Generator, "async generator": AsyncGenerator}[kind]
    with pytest.raises(DefinitionError, match=r"on_sourcing is a coroutine or a generator"):
        state_metadata(cls)


class Aware:
    """Wants everything."""

    def set_version(self, version: int) -> None: ...

    def set_state_aggregate(self, aggregate) -> None: ...

    def extract_tags(self, aggregate) -> dict[str, list[str]]:
        return {}


@pytest.mark.clause("STA-012", "STA-015", "STA-029")
def test_hooks_are_found_by_their_methods():
    """A class that has a hook's method has the hook; no base class is needed."""
    metadata = state_metadata(Aware)
    assert (metadata.is_version_aware, metadata.is_aggregate_aware, metadata.extracts_tags) == (True, True, True)
    assert isinstance(Aware(), VersionAware)
    assert isinstance(Aware(), StateAggregateAware)
    assert isinstance(Aware(), TagsExtractor)
    bare = state_metadata(BareState)
    assert (bare.is_version_aware, bare.is_aggregate_aware, bare.extracts_tags) == (False, False, False)


@pytest.mark.clause("STA-032")
def test_metadata_is_made_once_for_each_class():
    """The same class gives the same metadata; a subclass has its own."""
    assert state_metadata(Sourced) is state_metadata(Sourced)
    assert state_metadata(Sourced) is not state_metadata(SourcedBase)


def test_metadata_does_not_keep_its_class_alive():
    """A class that a test defines is gone with the test."""

    class Passing(BaseModel):
        id: str

        def on_sourcing(self, event: Opened) -> None: ...

    state_metadata(Passing)
    watched = weakref.ref(Passing)
    del Passing
    gc.collect()
    assert watched() is None


def test_names_of_the_defining_function_resolve():
    """Events that are defined inside a function are found through the definer's namespace."""

    class Local(BaseModel):
        pass

    class State:
        def on_sourcing(self, event: Local) -> None: ...

    assert state_metadata(State, Namespace({"Local": Local})).event_classes == (Local,)


def test_a_builtin_class_can_be_a_state():
    """A dict has no room for metadata; it is made again each time."""
    assert state_metadata(dict).create(REF) == {}


class Credit(BaseModel):
    """A command."""

    id: str


class WrappedState(BaseModel):
    """The state of an aggregate root of another class."""

    id: str

    def on_sourcing(self, event: Opened) -> None: ...


@pytest.mark.clause("STA-025", "STA-028", "CMD-228")
def test_a_root_around_a_state_class():
    """A constructor parameter that is no text is the state class; a fresh root is made around each state object."""

    @aggregate_root(context="bank")
    class Wrapping:
        def __init__(self, state: WrappedState) -> None:
            self.state = state

        def on_command(self, command: Credit) -> Opened:
            return Opened()

    metadata = aggregate_metadata(Wrapping)
    assert metadata.state is state_metadata(WrappedState)
    state = metadata.state.create(REF)
    first, second = metadata.make_root(state), metadata.make_root(state)
    assert first is not second
    assert first.state is second.state is state


@pytest.mark.clause("STA-025", "STA-028", "CMD-228")
def test_a_root_that_is_its_own_state():
    """With a text for its parameter the class is both, and the state object itself is the root."""

    class Debit(BaseModel):
        id: str

    class Debited(BaseModel):
        pass

    @aggregate_root(context="bank")
    class Alone:
        def __init__(self, id: str) -> None:
            self.id = id

        def on_command(self, command: Debit) -> Debited:
            return Debited()

        def on_sourcing(self, event: Debited) -> None: ...

    metadata = aggregate_metadata(Alone)
    assert metadata.state.cls is Alone
    assert metadata.state.event_classes == (Debited,)
    state = metadata.state.create(REF)
    assert metadata.make_root(state) is state
