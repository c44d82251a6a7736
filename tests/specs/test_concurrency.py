"""Commands in flight together: defects that only an order shows, and correct aggregates that no order blames."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from random import Random

import pytest

from tests.specs.concurrent_domain import (
    Account,
    BalanceKeeper,
    Balances,
    Box,
    Card,
    Charge,
    Charged,
    Deposit,
    Deposited,
    Draw,
    Drawer,
    Drawn,
    Emptied,
    Empty,
    Open,
    Opened,
    Overdrawer,
    Purse,
    Spend,
    Spent,
    Stamp,
    Strongroom,
    Take,
    Terminal,
    Till,
    Totals,
    Transfers,
    Vault,
    Withdraw,
    Withdrawn,
)
from wowspec import (
    DuplicateAggregateIdError,
    DuplicateRequestIdError,
    IllegalStateError,
    command_of,
    faults,
    given,
    on,
    sent_as,
    spec,
)
from wowspec.errors import CommandExpectVersionConflictError, InjectedFault, SpecError, SpecFailure
from wowspec.runtime.footprint import footprint
from wowspec.specs import tracking
from wowspec.specs.concurrency import Flight
from wowspec.specs.execution import arm, session_before
from wowspec.world.choices import Choices

BOTH = pytest.mark.parametrize("processes", [1, 2])


def account(balance=100):
    """A spec of one account."""
    return given(on(Account, "a-1", Opened(balance=balance)))


#: Made outside of any test, so that nothing is expected of it.
BASE = account()


@pytest.fixture
def finished():
    """Ends the test's specs now: what its end would report is raised by a call."""
    tracking.start()

    def finish():
        tracker = tracking.stop()
        assert tracker is not None
        tracker.finish()

    yield finish
    if tracking.current() is not None and len(tracking._trackers) > 1:
        tracking.stop()


# --- a correct aggregate --------------------------------------------------------------------------------------------


@BOTH
def test_a_correct_aggregate_is_never_blamed(processes):
    """One withdrawal wins, the other is refused, whoever is first, in one process and in two."""
    (
        account()
        .when_concurrently(Withdraw(amount=80), Withdraw(amount=70), processes=processes)
        .expect_serializable()
        .expect_state(lambda state: state.balance >= 0)
        .expect_one_of([Withdrawn(amount=80)], [Withdrawn(amount=70)])
        .expect_succeeded(times=1)
        .expect_error(IllegalStateError, times=1)
        .expect_event_count(1)
        .expect_version(2)
        .expect_complete()
    )


def test_between_processes_the_version_check_makes_a_loser_try_again():
    """Two processes load the same version; the one that appends second is refused by the store and retries."""
    found = account().when_concurrently(Deposit(amount=1), Deposit(amount=2), processes=2).expect_succeeded().run()

    attempts = [[run.attempts for run in outcome.runs] for outcome in found.outcomes]
    assert {tuple(sorted(numbers)) for numbers in attempts} <= {(1, 1), (1, 2)}
    assert any(row.outcome == "error:EventVersionConflictError" for o in found.outcomes for row in o.runs[0].rows)


def test_within_a_process_nothing_conflicts():
    """One process queues the commands of an aggregate: no order meets a version conflict."""
    found = account().when_concurrently(Deposit(amount=1), Deposit(amount=2)).expect_succeeded().run()

    assert all(row.error is None for outcome in found.outcomes for row in outcome.runs[0].rows)


@BOTH
def test_three_commands_that_commute(processes):
    """Deposits in any order leave the same balance; all six orders are found."""
    (
        account(0)
        .when_concurrently(
            Deposit(amount=1), Deposit(amount=2), Deposit(amount=4), processes=processes, max_schedules=300
        )
        .expect_serializable()
        .expect_succeeded()
        .expect_state(balance=7)
    )


@BOTH
def test_transfers_between_accounts(processes):
    """Money that a saga moves both ways at once is neither lost nor made."""
    (
        given(on(Account, "a-1", Opened(balance=50)), on(Account, "a-2", Opened(balance=50)))
        .using(Transfers)
        .when_concurrently(
            Withdraw(id="a-1", amount=30, to="a-2"),
            Withdraw(id="a-2", amount=40, to="a-1"),
            processes=processes,
            max_schedules=300,
        )
        .expect_serializable()
        .expect_succeeded()
        .expect_state(on(Account, "a-1"), balance=60)
        .expect_state(on(Account, "a-2"), balance=40)
    )


@BOTH
def test_the_loser_of_two_creations_gets_a_typed_error(processes):
    """Both open the same account: one does, the other is told that it exists."""
    (
        spec(Account)
        .when_concurrently(Open(id="a-1", balance=1), Open(id="a-1", balance=2), processes=processes)
        .expect_serializable()
        .expect_error(DuplicateAggregateIdError, times=1)
        .expect_one_of([Opened(balance=1)], [Opened(balance=2)])
    )


@BOTH
def test_the_loser_of_an_expected_version_gets_a_typed_error(processes):
    """Both expect version 1: one of them is right."""
    (
        account()
        .when_concurrently(
            sent_as(Deposit(amount=1), expected_version=1),
            sent_as(Deposit(amount=2), expected_version=1),
            processes=processes,
        )
        .expect_serializable()
        .expect_error(CommandExpectVersionConflictError, times=1)
    )


@BOTH
def test_one_request_sent_twice_is_done_once(processes):
    """Neither the filter of one process nor the store between two lets a request id through twice."""
    (
        account()
        .when_concurrently(
            sent_as(Deposit(amount=5), request_id="r-1"),
            sent_as(Deposit(amount=5), request_id="r-1"),
            processes=processes,
        )
        .expect_serializable()
        .expect_state(balance=105)
        .expect_error(DuplicateRequestIdError, times=1)
        .expect_stored(on(Account, "a-1"), Opened(balance=100), Deposited(amount=5))
    )


def test_times_of_retries_are_no_difference():
    """A loser that is retried later decides later: an instant in its event makes no outcome of its own."""
    account().when_concurrently(Stamp(), Stamp(), processes=2).expect_serializable().expect_succeeded()


# --- planted defects ------------------------------------------------------------------------------------------------


def purse():
    """A purse that asks a read model."""
    return spec(Purse).using(BalanceKeeper).inject(Balances(100))


def test_double_spending_is_found_in_one_process():
    """The read model lags behind the lane: two commands spend the same money, in no order of which both would."""
    with pytest.raises(SpecFailure, match="no order of the commands, one after another, ends like this") as caught:
        purse().when_concurrently(Spend(amount=80), Spend(amount=70)).expect_serializable()

    text = str(caught.value)
    assert "Spent(amount=80)" in text
    assert "1 then 2: [Spent(amount=80)]" in text


def test_one_after_the_other_nothing_is_spent_twice():
    """The same defect is invisible to commands that do not meet."""
    (
        purse()
        .when(Spend(amount=80))
        .expect_events(Spent(amount=80))
        .when(Spend(amount=70))
        .expect_error(IllegalStateError)
    )


def till(processes, **bounds):
    """Two commands for one till."""
    return (
        given(on(Till, "t-1", Drawn(amount=1)))
        .inject_factory(Drawer)
        .when_concurrently(Draw(amount=80), Draw(amount=70), processes=processes, **bounds)
        .expect_any_outcome()
    )


def is_balanced(outcome):
    """What is left and what was drawn make up what was there."""
    return outcome.service(Drawer).money == 100 - sum(event.amount for event in outcome.events.of(Drawn))


def test_a_lost_update_needs_two_processes():
    """In one process the lane of the aggregate hides that the drawer checks no version."""
    till(1).expect_one_of(is_balanced).expect_complete()

    with pytest.raises(SpecFailure, match="to which the function said no"):
        till(2).expect_one_of(is_balanced)


def strongroom(processes):
    """Two commands for one strongroom, whose service is awaited."""
    return (
        given(on(Strongroom, "v-1", Emptied(amount=1)))
        .inject_factory(Vault)
        .when_concurrently(Empty(amount=80), Empty(amount=70), processes=processes)
        .expect_any_outcome()
    )


def is_emptied(outcome):
    """What is left and what was taken make up what was there."""
    return outcome.service(Vault).money == 100 - sum(event.amount for event in outcome.events)


def test_others_may_come_between_two_calls_of_a_service():
    """A service that is awaited is passed like a point: between reading and writing another process reads."""
    strongroom(1).expect_one_of(is_emptied).expect_complete()

    with pytest.raises(SpecFailure, match=r"service:vault\.write"):
        strongroom(2).expect_one_of(is_emptied)


def test_a_payment_is_made_again_on_a_retry():
    """Only between two processes does a version conflict run the function, and its payment, once more."""
    card = given(on(Card, "c-1", Charged(receipt=0))).inject_factory(Terminal)
    once = card.when_concurrently(Charge(amount=1), Charge(amount=2)).expect_serializable().expect_succeeded()
    once.expect_one_of(lambda outcome: len(outcome.service(Terminal).payments) == 2)
    twice = card.when_concurrently(Charge(amount=1), Charge(amount=2), processes=2).expect_any_outcome()

    with pytest.raises(SpecFailure, match=re.escape("Charged(receipt=3)")):
        twice.expect_serializable()
    assert any(outcome.events == [Charged(receipt=1), Charged(receipt=3)] for outcome in twice.run().outcomes)


def test_laws_are_checked_in_every_order():
    """A command that is changed in one order alone breaks the law there, with the line that runs that order."""
    with pytest.raises(SpecFailure) as caught:
        spec(Box).when_concurrently(Take(amount=80), Take(amount=30)).expect_succeeded()

    text = str(caught.value)
    assert "Box.take" in text
    assert 'schedule="' in text
    assert 'schedule="0"' not in text
    assert re.search(
        r"explored: 2 schedules, up to the first in which a law broke; \d+ more were found and not run", text
    )


# --- replaying ------------------------------------------------------------------------------------------------------


def replay_of(text):
    """The line that a failure prints, as code that goes on with a spec called `base`."""
    found = re.search(r"replay: (\..*)", text)
    assert found is not None, text
    return f"base{found[1]}"


def test_one_line_runs_the_failing_order_again():
    """The printed line alone, behind the same base, fails with the same outcome, and runs nothing else."""
    base = purse()
    with pytest.raises(SpecFailure) as caught:
        base.when_concurrently(Spend(amount=80), Spend(amount=70)).expect_state(lambda state: state.spent <= 100)
    first = str(caught.value)

    again = eval(replay_of(first))
    with pytest.raises(SpecFailure) as caught:
        again.expect_state(lambda state: state.spent <= 100)

    second = str(caught.value)
    assert again.run().explored.startswith("schedule ")
    assert "PurseState" in first
    assert first.splitlines()[0] == second.splitlines()[0]
    assert replay_of(first) == replay_of(second)
    rows = [re.findall(r"^ +[12 ] +\d+ ms .*$", text, re.MULTILINE) for text in (first, second)]
    assert rows[0]
    assert rows[0] == rows[1]


def test_the_line_names_processes_and_options():
    """A command with options is printed with them, and so is the number of processes."""
    with pytest.raises(SpecFailure) as caught:
        account().when_concurrently(
            sent_as(Deposit(amount=1), owner_id="u-1"), command_of(Withdraw, amount=0), processes=2
        ).expect_succeeded()

    line = replay_of(str(caught.value))
    assert 'sent_as(Deposit(amount=1), owner_id="u-1")' in line
    assert "command_of(Withdraw, amount=0)" in line
    assert "processes=2" in line
    with pytest.raises(SpecFailure):
        eval(line, {**globals(), "base": account()}).expect_succeeded()


def test_a_stale_schedule_is_told():
    """A schedule of another spec is an error of the author's, not an outcome."""
    with pytest.raises(SpecError, match="tasks are ready"):
        account().when_concurrently(Deposit(amount=1), Deposit(amount=2), schedule="0.9").expect_succeeded()


def text_of_a_search():
    """What a search with all sorts of parts runs, in order, and what it finds."""
    found = (
        given(on(Account, "a-1", Opened(balance=50)), on(Account, "a-2", Opened(balance=50)))
        .using(Transfers)
        .when_concurrently(
            Withdraw(id="a-1", amount=30, to="a-2"), Withdraw(id="a-2", amount=40), processes=2, max_schedules=100
        )
        .expect_any_outcome()
        .run()
    )
    lines = [f"{outcome.schedule} {outcome.times} {outcome.events!r}" for outcome in found.outcomes]
    return "\n".join([found.explored, *lines])


def test_a_search_does_not_depend_on_the_hash_seed():
    """Under three hash seeds the same orders are run, with the same outcomes."""
    code = "from tests.specs.test_concurrency import text_of_a_search; print(text_of_a_search())"
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4294967295")
    }

    assert printed == {text_of_a_search() + "\n"}


class AtRandom(Choices):
    """Choices by a generator of numbers instead of a schedule."""

    def __init__(self, seed):
        super().__init__(footprint=footprint)
        self.numbers = Random(seed)

    def _choose(self, ready):
        self._prefix = (*self.schedule, self.numbers.randrange(len(ready)))
        return super()._choose(ready)


@pytest.mark.parametrize(
    "make",
    [
        lambda: account().when_concurrently(Withdraw(amount=80), Withdraw(amount=70), processes=2),
        lambda: purse().when_concurrently(Spend(amount=80), Spend(amount=70)),
        lambda: account().when_concurrently(
            sent_as(Deposit(amount=5), request_id="r-1"), sent_as(Deposit(amount=5), request_id="r-1")
        ),
        lambda: till(2),
        lambda: (
            account()
            .with_faults(faults.event_store.append.loses_reply())
            .when_concurrently(Deposit(amount=5), Deposit(amount=6), processes=2)
        ),
    ],
    ids=["withdrawals", "purse", "requests", "till", "fault"],
)
def test_orders_at_random_have_no_other_outcomes(make):
    """What the search leaves out as making no difference makes none: no order at random ends in another way."""
    spec_ = make().expect_any_outcome().expect_complete()
    known = {outcome.exactly() for outcome in spec_.run().outcomes}
    base, previous = session_before(spec_._node)
    arm(base)

    for seed in range(60):
        choices = AtRandom(seed)
        outcome = Flight(base, spec_._node.step, previous).together(choices)
        choices.detach()
        assert outcome.exactly() in known, f"schedule {choices.text}"


# --- bounds ---------------------------------------------------------------------------------------------------------


def test_what_a_bound_cuts_off_is_said_exactly():
    """How many schedules ran, how many more are known, and how near they are; a spec may require all."""
    found = account().when_concurrently(Deposit(amount=1), Deposit(amount=2), max_schedules=4).expect_succeeded()

    explored = found.run().explored
    assert re.fullmatch(
        r"4 schedules( \(\d of them only until they met another\))?, up to max_schedules=4; "
        r"[1-9]\d* more were found and not run, the nearest of them with 1 preemption",
        explored,
    ), explored
    with pytest.raises(SpecFailure, match="not every order was run: 4 schedules"):
        found.expect_complete()


def test_what_too_many_preemptions_cut_off_is_said():
    """Schedules that the bound of preemptions left out are counted."""
    found = account().when_concurrently(Deposit(amount=1), Deposit(amount=2), max_preemptions=0).expect_succeeded()

    assert re.fullmatch(
        r"1 schedule; [1-9]\d* with more than max_preemptions=0 were not run, "
        "nor what would have been found from there",
        found.run().explored,
    ), found.run().explored


def test_a_failure_says_what_was_explored():
    """Nobody takes a few schedules for all of them."""
    with pytest.raises(SpecFailure, match="explored: 2 schedules, up to max_schedules=2; "):
        account().when_concurrently(Deposit(amount=1), Deposit(amount=2), max_schedules=2).expect_succeeded(times=0)


# --- services -------------------------------------------------------------------------------------------------------


def test_each_order_has_services_of_its_own():
    """What is injected is copied before each run: no run sees what another one did, and the original is left alone."""
    drawer = Drawer(100)
    found = spec(Till).inject(drawer).when_concurrently(Draw(amount=30), Draw(amount=20)).expect_succeeded().run()

    assert {outcome.service(Drawer).money for outcome in found.outcomes} == {50}
    assert drawer.money == 100


def test_a_service_that_cannot_be_copied_is_named():
    """The line to write instead is in the message."""

    class Fixed(Drawer):
        def __deepcopy__(self, memo):
            raise TypeError("not me")

    with pytest.raises(SpecError, match="the service Fixed cannot be copied: not me") as caught:
        spec(Till).inject(Fixed()).when_concurrently(Draw(amount=1), Draw(amount=2)).expect_succeeded()
    assert ".inject_factory(Fixed)" in str(caught.value)


# --- faults ---------------------------------------------------------------------------------------------------------


def test_a_fault_strikes_whoever_comes_first():
    """An armed fault meets either command, whichever order puts first at its point."""
    found = (
        account()
        .with_faults(faults.event_store.append.fails())
        .when_concurrently(Deposit(amount=1), Deposit(amount=2))
        .expect_error(InjectedFault, times=1)
        .expect_one_of([Deposited(amount=1)], [Deposited(amount=2)])
        .run()
    )

    assert len(found.outcomes) == 2


def test_a_fault_that_no_order_reaches_fails_the_spec(finished):
    """As with a single command."""
    account().with_faults(faults.event_store.append.fails(at=9)).when_concurrently(
        Deposit(amount=1), Deposit(amount=2)
    ).expect_succeeded()

    with pytest.raises(SpecFailure, match="never struck"):
        finished()


# --- being judged ---------------------------------------------------------------------------------------------------


def test_an_error_that_no_verb_speaks_of_fails_the_spec(finished):
    """A state that holds in all outcomes does not excuse the command that was refused in some."""
    account().when_concurrently(Withdraw(amount=80), Withdraw(amount=70)).expect_state(lambda state: state.balance >= 0)

    with pytest.raises(SpecFailure, match="failed with IllegalStateError, which nobody expected") as caught:
        finished()
    assert 'schedule="' in str(caught.value)


@pytest.mark.parametrize(
    "decide",
    [
        lambda found: found.expect_serializable(),
        lambda found: found.expect_error(IllegalStateError),
        lambda found: found.expect_error(code="IllegalState", times=1),
        lambda found: found.expect_any_outcome(),
    ],
    ids=["serializable", "error", "error by code and times", "any outcome"],
)
def test_a_verb_that_speaks_of_an_error_decides_it(finished, decide):
    """Each of these accepts that one of the two is refused."""
    decide(account().when_concurrently(Withdraw(amount=80), Withdraw(amount=70)))

    finished()


def test_an_error_downstream_must_be_named(finished):
    """What a saga's command meets in one order alone is no more overlooked than with a single command."""
    account().using(Overdrawer).when_concurrently(Deposit(amount=1), Withdraw(amount=70)).expect_any_outcome()

    with pytest.raises(SpecFailure, match="IllegalStateError") as caught:
        finished()
    assert "replay: " in str(caught.value)


def test_an_error_downstream_that_is_named(finished):
    """It is enough that it happens in some order; another one of its kind is not."""
    found = account().using(Overdrawer).when_concurrently(Deposit(amount=1), Withdraw(amount=70)).expect_any_outcome()

    found.expect_downstream_error(Withdraw, IllegalStateError)
    finished()
    with pytest.raises(SpecFailure, match="in no outcome did anything of Withdraw fail so downstream"):
        found.expect_downstream_error(Withdraw, ValueError)


@BOTH
def test_a_read_model_of_all_outcomes(processes):
    """Two processes keep their read models in one place, as they do their events."""
    found = (
        account().using(Totals).when_concurrently(Deposit(amount=1), Deposit(amount=2), processes=processes)
    ).expect_succeeded()

    found.expect_view("a-1", 3).expect_no_view("a-2")
    for judge in (lambda: found.expect_view("a-1", 2), lambda: found.expect_no_view("a-1")):
        with pytest.raises(SpecFailure, match='schedule="'):
            judge()


def test_commands_without_an_expectation_fail_the_spec(finished):
    """They were not even run."""
    account().when_concurrently(Deposit(amount=1), Deposit(amount=2))

    with pytest.raises(SpecFailure, match=r"when_concurrently\(Deposit.* was never looked at"):
        finished()


def test_an_expectation_of_one_aggregate_needs_to_be_told_which():
    """Where the commands are for several, nothing says whose state is meant."""
    found = given(on(Account, "a-1", Opened(balance=1)), on(Account, "a-2", Opened(balance=1))).when_concurrently(
        Deposit(id="a-1", amount=1), Deposit(id="a-2", amount=1)
    )

    with pytest.raises(SpecError, match="are for 2 aggregates"):
        found.expect_state(balance=2)
    found.expect_state(on(Account, "a-1"), balance=2).expect_state(on(Account, "a-2"), balance=2)


@pytest.mark.parametrize(
    ("commands", "options", "text"),
    [
        ((), {}, "of 0 commands"),
        ((Deposit(amount=1),), {}, "of 1 commands"),
        ((Deposit(amount=1), Deposit(amount=2)), {"processes": 0}, "processes=0"),
        ((Deposit(amount=1), Deposit(amount=2)), {"processes": 3}, "in 3 processes"),
        ((Deposit(amount=1), Deposit(amount=2)), {"processes": True}, "processes=True"),
        ((Deposit(amount=1), Deposit(amount=2)), {"max_schedules": 0}, "max_schedules=0"),
        ((Deposit(amount=1), Deposit(amount=2)), {"max_preemptions": -1}, "max_preemptions=-1"),
        ((Deposit(amount=1), Deposit(amount=2)), {"schedule": "x"}, "schedule='x'"),
        ((Deposit(amount=1), Opened(balance=1)), {}, "is an event"),
        ((Deposit(amount=1), None), {}, "None"),
    ],
)
def test_what_cannot_be_in_flight_is_refused(commands, options, text):
    """The author is told at once, before anything runs."""
    with pytest.raises(SpecError, match=re.escape(text)):
        BASE.when_concurrently(*commands, **options)


def test_looser_verbs_can_fail():
    """Each verb that holds above does not hold of something else."""
    found = account().when_concurrently(Withdraw(amount=80), Withdraw(amount=70)).expect_serializable()

    for judge in (
        found.expect_succeeded,
        lambda: found.expect_succeeded(times=2),
        lambda: found.expect_error(IllegalStateError, times=2),
        lambda: found.expect_error(DuplicateRequestIdError),
        lambda: found.expect_events(Withdrawn(amount=80)),
        found.expect_no_events,
        lambda: found.expect_event_count(2),
        lambda: found.expect_version(3),
        lambda: found.expect_one_of([Withdrawn(amount=80)]),
        lambda: found.expect_one_of(lambda outcome: outcome.state.balance == 20),
        lambda: found.expect_state(balance=20),
        lambda: found.expect_state_aggregate(version=3),
        lambda: found.expect_stored(on(Account, "a-1"), Opened(balance=100)),
    ):
        with pytest.raises(SpecFailure, match='schedule="'):
            judge()
