"""Where pytest shows a mistake of the author's: at their own line, and with the reason first."""

from __future__ import annotations

import pytest

from tests.golden.domain import Account, AccountOpened, Deposited, Withdraw
from wowspec import SpecError, SpecFailure, any_of, faults, given, on, some, stream, unordered

UNTRACKED = given()

MISTAKES = {
    "point": lambda: faults.event_store.apend,
    "point by text": lambda: faults.point("event_store.apend"),
    "kind": faults.command.acknowledge.conflicts,
    "visit": lambda: faults.event_store.append.fails(at=0),
    "rival": faults.event_store.append.rival_appends,
    "option": lambda: UNTRACKED.when(Withdraw(id="a-1", amount=1), owner="u-1"),
    "stream": stream,
    "blank id": lambda: on(Account, " "),
    "field": lambda: some(Deposited, amout=1),
    "choice": any_of,
    "group": lambda: unordered(unordered(Deposited(amount=1))),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_only_the_authors_line_is_shown(name):
    """No frame of the library is shown by pytest, which reads its flags of hidden frames."""
    with pytest.raises(SpecError) as caught:
        MISTAKES[name]()

    shown = [str(entry.path) for entry in caught.traceback if not entry.ishidden(None)]
    assert set(shown) == {__file__}


def test_a_branchs_failure_begins_with_branch_and_reason():
    """A summary line shows the first line alone."""
    spec = given(AccountOpened(holder="h", balance=9)).when(Withdraw(id="a-1", amount=1))

    with pytest.raises(SpecFailure) as caught:
        spec.fork("rich", lambda rich: rich.expect_version(7))
    assert str(caught.value).splitlines()[0] == "in branch rich: account(a-1) is at version 2, expected 7"
