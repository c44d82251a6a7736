"""Strategies in a suite of their own: with fixtures, examples, a database, processes; no health check complains."""

from __future__ import annotations

import re

import pytest

from tests.plugin.test_entry import run_pytest

#: They start many processes, or sweep a great deal.
pytestmark = pytest.mark.long

DOMAIN = """
from typing import Annotated

import hypothesis
import pytest
from hypothesis import example, given, settings, strategies as st
from pydantic import BaseModel, Field

import wowspec as ws
from wowspec import aggregate_root, allow_create, on_command, on_sourcing, strategies


@allow_create
class PayIn(BaseModel):
    amount: Annotated[int, Field(gt=0, le=100)]


class PayOut(BaseModel):
    amount: Annotated[int, Field(gt=0, le=100)]


class PaidIn(BaseModel):
    amount: int


class PaidOut(BaseModel):
    amount: int


class WalletState(BaseModel):
    id: str
    balance: int = 0

    @on_sourcing
    def paid_in(self, event: PaidIn) -> None:
        self.balance += event.amount

    @on_sourcing
    def paid_out(self, event: PaidOut) -> None:
        self.balance -= event.amount


@aggregate_root(context="bank")
class Wallet:
    def __init__(self, state: WalletState) -> None:
        self.state = state

    @on_command
    def pay_in(self, command: PayIn) -> PaidIn:
        return PaidIn(amount=command.amount)

    @on_command
    def pay_out(self, command: PayOut) -> PaidOut:
        if command.amount > self.state.balance:
            raise ValueError("too little")
        return PaidOut(amount=command.amount)
"""

PASSING = f"""{DOMAIN}

@given(ws.histories(Wallet), ws.commands(Wallet, only=PayIn))
def test_with_the_fixture(wowspec, history, command):
    (
        wowspec(Wallet)
        .given(*history)
        .when(command)
        .expect_event(PaidIn)
        .expect_state(lambda wallet: wallet.balance >= command.amount)
    )


@settings(max_examples=20)
@example(history=(), command=PayIn(amount=100))
@example(history=(ws.on(Wallet, "1", PaidIn(amount=5)),), command=PayIn(amount=1))
@given(history=ws.histories(Wallet), command=strategies.from_model(PayIn, amount=st.integers(1, 3)))
def test_with_examples(history, command):
    ws.spec(Wallet).given(*history).when(command).expect_event(PaidIn)


@given(st.data())
def test_drawn_on_the_way(data):
    history = data.draw(strategies.histories(Wallet, min_size=1))
    ws.spec(Wallet).given(*history).when(PayIn(amount=1)).expect_event(PaidIn(amount=1))


class TestInAClass:
    @pytest.mark.parametrize("most", [1, 3])
    @given(history=st.deferred(lambda: ws.histories(Wallet, max_size=3)))
    def test_a_method(self, wowspec, most, history):
        wowspec(Wallet).given(*history[:most]).when(PayIn(amount=2)).expect_event(PaidIn)


def test_profiles(request):
    assert settings.default.max_examples == 7
"""

FAILING = f"""{DOMAIN}

@settings(print_blob=True)
@given(ws.histories(Wallet), ws.commands(Wallet, only=PayIn))
def test_nobody_is_rich(history, command):
    ws.spec(Wallet).given(*history).when(command).run()
    assert all(event.amount < 70 for item in history for event in item.items if isinstance(event, PaidIn))
"""

CONFTEST = """
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

settings.register_profile("small", max_examples=7, database=DirectoryBasedExampleDatabase("examples"))
settings.load_profile("small")
"""


def test_a_suite_passes(tmp_path):
    """With the fixture, `@example`, `st.data()`, methods, parameters and a profile; warnings are errors."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_wallet.py").write_text(PASSING)

    finished = run_pytest(tmp_path, "-W", "error", "-p", "no:asyncio")

    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "6 passed" in finished.stdout


def test_all_examples_of_the_default_profile(tmp_path):
    """A hundred examples of each draw no health-check complaint."""
    (tmp_path / "test_wallet.py").write_text(PASSING.partition("def test_profiles")[0])

    finished = run_pytest(tmp_path, "-W", "error", "-p", "no:asyncio")

    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_under_xdist(tmp_path):
    """Two processes share the tests."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_wallet.py").write_text(PASSING)

    pytest.importorskip("xdist", reason="the tests are spread by pytest-xdist")
    finished = run_pytest(tmp_path, "-n", "2")

    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_a_failure_shrinks_and_is_reproduced(tmp_path):
    """The smallest history is printed as it can be pasted; the database and the blob bring it back, as does pasting."""
    small = CONFTEST.replace("max_examples=7", "max_examples=400")
    (tmp_path / "conftest.py").write_text(small)
    (tmp_path / "test_wallet.py").write_text(FAILING)

    first = run_pytest(tmp_path)

    assert first.returncode == 1
    printed = re.sub(r"\s+|^E ", " ", re.sub(r"(?m)^E", " ", first.stdout))
    shrunk = re.search(r"history=\(on\(Wallet, '1', PaidIn\(amount=70\)\),\)", printed)
    assert shrunk, first.stdout
    assert (tmp_path / "examples").is_dir()

    (tmp_path / "conftest.py").write_text(small.replace("max_examples=400", "max_examples=400, phases=[PHASE.reuse]"))
    reuse = (tmp_path / "conftest.py").read_text().replace("import settings", "import Phase as PHASE, settings", 1)
    (tmp_path / "conftest.py").write_text(reuse)
    again = run_pytest(tmp_path)
    assert again.returncode == 1
    assert shrunk[0] in re.sub(r"\s+|^E ", " ", re.sub(r"(?m)^E", " ", again.stdout))

    blob = re.search(r"@reproduce_failure\('[^']+', b'[^']+'\)", first.stdout)
    assert blob, first.stdout
    (tmp_path / "conftest.py").unlink()
    pinned = FAILING.replace("@settings(print_blob=True)", f"@hypothesis.{blob[0][1:]}\n@settings(database=None)")
    (tmp_path / "test_wallet.py").write_text(pinned)
    reproduced = run_pytest(tmp_path)
    assert reproduced.returncode == 1
    assert shrunk[0] in re.sub(r"\s+|^E ", " ", re.sub(r"(?m)^E", " ", reproduced.stdout))

    pasted = f"""{DOMAIN}

from wowspec import on


def test_pasted():
    {shrunk[0]}
    ws.spec(Wallet).given(*history).when(PayOut(amount=70)).expect_event(PaidOut)
"""
    (tmp_path / "test_wallet.py").write_text(pasted)
    assert run_pytest(tmp_path).returncode == 0


@pytest.mark.parametrize("seed", ["0", "77"])
def test_another_hash_seed_draws_the_same(tmp_path, monkeypatch, seed):
    """Nothing that is drawn depends on the hash seed."""
    monkeypatch.setenv("PYTHONHASHSEED", seed)
    suite = f"""{DOMAIN}

drawn = []


@settings(derandomize=True, max_examples=30)
@given(ws.histories(Wallet, max_size=4), ws.commands(Wallet))
def test_draw(history, command):
    drawn.append((repr([item.items for item in history]), repr(command)))


def test_digest():
    import hashlib

    print("digest", hashlib.sha256(repr(drawn).encode()).hexdigest())
"""
    (tmp_path / "test_wallet.py").write_text(suite)

    finished = run_pytest(tmp_path, "-s")

    digest = re.search(r"digest (\w+)", finished.stdout)
    assert digest, finished.stdout
    known = _DIGESTS.setdefault("one", digest[1])
    assert digest[1] == known


_DIGESTS: dict[str, str] = {}
