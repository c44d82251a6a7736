"""The ordered tables of the command path: where two rows could speak, the earlier one does."""

from __future__ import annotations

import pytest

from tests.golden.domain import Account, Deposit, Note, OpenAccount, Unhandled, golden
from wowspec import CommandResultError, DeleteAggregate, RecoverAggregate
from wowspec.messages.exchange import ServerCommandExchange
from wowspec.messages.stages import CommandStage
from wowspec.messages.wait_plans import wait_for_stage
from wowspec.modeling.aggregates import aggregate_metadata
from wowspec.runtime.aggregate import CHECKS, CommandAggregate, CommandState
from wowspec.runtime.catalog import catalog_of
from wowspec.runtime.sourcing import new_state_aggregate
from wowspec.runtime.system import Runtime
from wowspec.world.world import World

OPEN = OpenAccount(id="a-1", holder="ann", balance=5)
DEPOSIT = Deposit(id="a-1", amount=1)


class Bank:
    """A runtime of the small bank; every command is waited for."""

    def __init__(self):
        self.world = World()
        self.runtime = Runtime(self.world, catalog=catalog_of([golden]))

    def send(self, body, *, stage=CommandStage.PROCESSED, **options):
        """The error code of one command, and its result or None."""
        if isinstance(body, DeleteAggregate | RecoverAggregate):
            options |= {"named_aggregate": "golden.account", "aggregate_id": "a-1"}
        message = self.runtime.message(body, **options)
        sending = self.runtime.gateway.send_and_wait(message, wait_for_stage(stage).plan(message.id))
        task = self.world.scheduler.spawn(sending, "send")
        self.world.scheduler.run()
        if isinstance(task.error, CommandResultError):
            return task.error.error_code
        return task.result().error_code


@pytest.fixture
def bank():
    """An empty bank."""
    return Bank()


def test_the_order_of_the_checks():
    """There are eight checks in one order."""
    assert [check.name for check in CHECKS] == [
        "expected version",
        "exists",
        "owner",
        "space",
        "command state",
        "recover only what is deleted",
        "deleted",
        "defined",
    ]


@pytest.mark.clause("CMD-209", "CMD-210")
def test_expected_version_comes_before_existence(bank):
    """A command that expects a version of a missing aggregate reports the version; without one, that it is missing."""
    assert bank.send(DEPOSIT, aggregate_version=3) == "CommandExpectVersionConflict"
    assert bank.send(DEPOSIT) == "NotFound"


@pytest.mark.clause("CMD-212", "CMD-213")
def test_allow_create_needs_no_aggregate(bank):
    """A command that may create does so where there is nothing, and is an ordinary update where there is."""
    assert bank.send(Note(id="a-1", text="first")) == "Ok"
    assert bank.send(Note(id="a-1", text="second")) == "Ok"


@pytest.mark.clause("CMD-209", "CMD-214", "CMD-215")
def test_version_then_owner_then_space(bank):
    """With version, owner and space all wrong, the version is told; with owner and space wrong, the owner."""
    assert bank.send(OPEN, owner_id="u-1", space_id="s-1") == "Ok"

    wrong = {"owner_id": "u-2", "space_id": "s-2"}
    assert bank.send(DEPOSIT, aggregate_version=7, **wrong) == "CommandExpectVersionConflict"
    assert bank.send(DEPOSIT, **wrong) == "IllegalAccessOwnerAggregate"
    assert bank.send(DEPOSIT, owner_id="u-1", space_id="s-2") == "IllegalAccessSpaceAggregate"
    assert bank.send(DEPOSIT, owner_id=" ", space_id="") == "Ok"


@pytest.mark.clause("CMD-214")
def test_owner_of_a_missing_aggregate_is_not_compared(bank):
    """Owner and space are compared on initialised aggregates alone."""
    assert bank.send(Note(id="a-1", text="x"), owner_id="u-1", space_id="s-1") == "Ok"


@pytest.mark.clause("CMD-215", "CMD-217", "CMD-219", "CMD-220")
def test_owner_and_space_then_deleted_then_function(bank):
    """On a deleted aggregate the wrong owner or space is told first, then the deletion, before a missing function."""
    bank.send(OPEN, owner_id="u-1", space_id="s-1")
    assert bank.send(Unhandled(id="a-1")) == "IllegalArgument"
    assert bank.send(DeleteAggregate()) == "Ok"

    assert bank.send(DEPOSIT, owner_id="u-2") == "IllegalAccessOwnerAggregate"
    assert bank.send(DEPOSIT, space_id="s-2") == "IllegalAccessSpaceAggregate"
    assert bank.send(DEPOSIT) == "IllegalAccessDeletedAggregate"
    assert bank.send(Unhandled(id="a-1")) == "IllegalAccessDeletedAggregate"
    assert bank.send(DeleteAggregate()) == "IllegalAccessDeletedAggregate"


@pytest.mark.clause("CMD-217", "CMD-218")
def test_recover_only_what_is_deleted(bank):
    """A recover command passes on a deleted aggregate alone."""
    bank.send(OPEN)
    assert bank.send(RecoverAggregate()) == "IllegalState"
    bank.send(DeleteAggregate())
    assert bank.send(RecoverAggregate()) == "Ok"
    assert bank.send(DEPOSIT) == "Ok"


class Working:
    """A command aggregate of its own, whose append can be told to fail."""

    def __init__(self):
        self.bank = Bank()
        metadata = aggregate_metadata(Account)
        message = self.bank.runtime.message(OPEN, space_id="s-1")
        state = new_state_aggregate(metadata.state, message.aggregate_id)
        self.append_error = None
        self.aggregate = CommandAggregate(metadata, state, self.append, self.bank.world)
        assert self.process(OPEN, space_id="s-1") is None

    async def append(self, *_arguments):
        """Store nothing, or fail."""
        if self.append_error is not None:
            raise self.append_error

    def process(self, body, **options):
        """The error of processing one command, or None."""
        if isinstance(body, RecoverAggregate):
            options |= {"named_aggregate": "golden.account", "aggregate_id": "a-1"}
        message = self.bank.runtime.message(body, **options)
        task = self.bank.world.scheduler.spawn(self.aggregate.process(ServerCommandExchange(message)), "process")
        self.bank.world.scheduler.run()
        return task.error

    def expire(self):
        """Let an append fail."""
        self.append_error = RuntimeError("the store is gone")
        assert isinstance(self.process(DEPOSIT), RuntimeError)
        return self


@pytest.mark.clause("CMD-234", "CMD-235")
def test_sourced_and_stored():
    """A command sources and stores: the object is STORED again, and takes the next command."""
    working = Working()

    assert working.aggregate.command_state is CommandState.STORED
    assert working.process(DEPOSIT) is None
    assert working.aggregate.command_state is CommandState.STORED


@pytest.mark.clause("CMD-237", "CMD-238", "CMD-239")
def test_a_failed_append_expires_the_object():
    """After a failed append the object is EXPIRED and takes no command, though the store may be well again."""
    working = Working().expire()
    assert working.aggregate.command_state is CommandState.EXPIRED

    working.append_error = None
    error = working.process(DEPOSIT)

    assert type(error).__name__ == "IllegalStateError"
    assert "EXPIRED" in str(error)


@pytest.mark.clause("CMD-215", "CMD-239")
@pytest.mark.parametrize(
    ("body", "options", "deleted", "told"),
    [
        (DEPOSIT, {"space_id": "s-2"}, False, "IllegalAccessSpaceAggregateError"),
        (DEPOSIT, {}, True, "IllegalStateError"),
        (Unhandled(id="a-1"), {}, False, "IllegalStateError"),
    ],
    ids=["after the space", "before deleted", "before the function"],
)
def test_command_state_between_space_and_deleted(body, options, deleted, told):
    """An object that isn't STORED is told after owner and space, and before deletion and function."""
    working = Working().expire()
    working.aggregate.state.deleted = deleted

    error = working.process(body, **options)

    assert type(error).__name__ == told
    assert (told != "IllegalStateError") or "EXPIRED" in str(error)


def test_recovering_an_expired_object():
    """A recover command on a live, expired object is told of the object's state."""
    error = Working().expire().process(RecoverAggregate())

    assert "EXPIRED" in str(error)


@pytest.mark.clause("CMD-176", "CMD-178", "CMD-180", "CMD-183", "CMD-419", "CMD-426")
def test_the_order_of_the_command_chain(bank):
    """Stored, acknowledged, published, state event published, then PROCESSED is told: outermost is last."""
    bank.send(OPEN)

    command_lane = [row.point for row in bank.world.trace if str(row.lane) == "a-1"]
    assert command_lane == [
        "event_store.append",
        "command.acknowledge",
        "domain_event_bus.send",
        "state_event_bus.send",
        "wait.notify:PROCESSED",
    ]


@pytest.mark.clause("SNP-014", "SNP-020", "SNP-021", "EVT-126")
def test_the_order_of_the_snapshot_chain(bank):
    """The snapshot is saved, then SNAPSHOT is told."""
    assert bank.send(OPEN, stage=CommandStage.SNAPSHOT) == "Ok"

    snapshot_lane = [row.point for row in bank.world.trace if str(row.lane) == "snapshot@a-1"]
    assert snapshot_lane == ["snapshot.save", "wait.notify:SNAPSHOT"]
