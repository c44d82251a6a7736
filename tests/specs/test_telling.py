"""The whole story of a run, as `-vv` shows it; `WOWSPEC_UPDATE_TEXTS=1` writes the pinned texts anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from wowspec import faults, given, spec
from wowspec.specs import tracking
from wowspec.specs.story import MOST_ROWS, rows_text
from wowspec.specs.telling import coloured, stories

from . import shop_domain as shop
from .reports.domain import OrderCreated, PayOrder

TEXTS = Path(__file__).parent / "texts" / "stories"


def lost_reply() -> None:
    """A fault, a retry, and a departure."""
    (
        given(OrderCreated())
        .with_faults(faults.event_store.append.loses_reply())
        .when(PayOrder(id="o-1"))
        .expect_any_outcome()
    )


def downstream() -> None:
    """A saga and a projection, in lanes of their own, and two aggregates."""
    spec().using(shop.shop).when(shop.PlaceOrder(id="o-1", sku="s-1")).expect_version(1)


def two_steps() -> None:
    """Each command has a story."""
    (
        given(OrderCreated())
        .when(PayOrder(id="o-1", amount=2))
        .expect_version(2)
        .when(PayOrder(id="o-1"))
        .expect_error(code="IllegalState")
    )


def many_steps() -> None:
    """The last ones are told."""
    made = given(OrderCreated())
    for _ in range(8):
        made = made.when(PayOrder(id="o-1")).expect_any_outcome()


MADE: dict[str, Callable[[], None]] = {
    "lost_reply": lost_reply,
    "downstream": downstream,
    "two_steps": two_steps,
    "many_steps": many_steps,
}


def told(make: Callable[[], None]) -> list[str]:
    """The stories of a test that made these specs."""
    tracking.start()
    try:
        make()
    finally:
        tracker = tracking.stop()
    assert tracker is not None
    return stories(tracker)


@pytest.mark.parametrize("name", MADE)
def test_a_story_reads_as_it_was_reviewed(name):
    """Steps, outcome, retries, faults, departure, points, ledgers, sagas, versions."""
    text = "\n\n".join(told(MADE[name])) + "\n"
    path = TEXTS / f"{name}.txt"
    if os.environ.get("WOWSPEC_UPDATE_TEXTS"):
        TEXTS.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    assert path.read_text(encoding="utf-8") == text


def test_every_pinned_story_is_made():
    """No text stays behind."""
    assert {path.stem for path in TEXTS.glob("*.txt")} == set(MADE)


def test_colours_change_nothing_else():
    """What was struck is red; without its colours the text is the same."""
    (text,) = told(lost_reply)
    shown = coloured(text)

    assert "\x1b[31m         0 ms ✗ o-1          event_store.append     v2 OrderPaid  ack_lost\x1b[0m" in shown
    for code in ("\x1b[31m", "\x1b[36m", "\x1b[1m", "\x1b[0m"):
        shown = shown.replace(code, "")
    assert shown == text


def test_a_run_tells_its_own_story():
    """As text, and to whoever prints it with `rich`."""
    run = given(OrderCreated()).when(PayOrder(id="o-1")).run()

    assert run.story().splitlines()[:2] == ["the story of a run", '  PayOrder(id="o-1"): succeeded']
    rich_text = pytest.importorskip("rich.text", reason="the extra `rich` brings it")
    shown = run.__rich__()
    assert isinstance(shown, rich_text.Text)
    assert shown.plain == run.story()


def test_a_long_pipeline_is_shown_by_its_ends_and_incidents():
    """What was struck is never left out; how much is left out is said, and with a larger limit nothing is."""
    runs = [given(OrderCreated()).when(PayOrder(id="o-1", amount=place)).run() for place in range(4)]
    rows = [row for run in runs for row in run.rows]
    rows[20].outcome = "fail"
    lines = rows_text(rows).splitlines()

    assert len(rows) > MOST_ROWS
    assert len(lines) < MOST_ROWS
    assert sum(" ✗ " in line for line in lines) == 1
    left_out = [int(line.split()[1]) for line in lines if "shown by -vv" in line]
    assert sum(left_out) + len(lines) - 1 - len(left_out) == len(rows)
    assert len(rows_text(rows, most=len(rows)).splitlines()) == len(rows) + 1
