"""The stories that findings keep for reports: what they hold, how many there are, what they cost where nobody asks."""

from __future__ import annotations

import json

from tests.exploration.shop import PlaceOrder, shop
from wowspec import spec
from wowspec.exploration.explore import SpecExploration
from wowspec.exploration.playing import Way
from wowspec.exploration.settings import Settings
from wowspec.exploration.stories import MOST_ALIKE, MOST_STORIES, keep_some
from wowspec.faults.plans import Plan
from wowspec.specs import run_json
from wowspec.specs.run_json import rows_json

PLAN = "PlaceOrder>OrderPlaced/event.deliver:OrderBoard.placed@1=duplicate"


def finding(law, *, declared=False, known=False, healed=""):
    """As much of a finding as counts here."""
    return {"broken": [{"law": law, "declared": declared, "known": known}], "healed_by": healed, "story": {}}


def exploration(**more):
    """An exploration of an order that a saga and a board hear of."""
    said = spec().using(shop).with_profile("kafka").when(PlaceOrder(id="o-1"))
    said.run()
    return SpecExploration(Way(tuple(said._node.path())), Settings(**more), "test_it.py::test_it")


def test_a_finding_keeps_the_story_of_its_run():
    """Rows of the run under the plan, what struck among them, where it departs, and what it left; as plain JSON."""
    [finding] = exploration(draws=True).replay(Plan.parse(PLAN))["findings"]
    story = finding["story"]

    assert story == json.loads(json.dumps(story))
    assert [row["point"] for row in story["rows"] if row["struck"]] == ["event.deliver:OrderBoard.placed"]
    assert story["faults"] == ["event.deliver:OrderBoard.placed@1=duplicate"]
    assert story["rows"][story["departure"]]["point"] == "event.deliver:OrderBoard.placed"
    assert not story["rows"][story["departure"]]["struck"]
    assert (story["outcome"], story["step"], story["left_out"]) == ("succeeded", -1, 0)
    assert story["ledgers"] == {"emitted": 2, "stored": 2, "published": 2, "delivered": 3}
    assert story["events"][0] == 'OrderPlaced(sku="s-1", quantity=1)'
    assert story["sent"] == ['ReserveStock(id="s-1", order_id="o-1", quantity=1)']


def test_messages_are_numbered_within_a_run():
    """Each message has one number, wherever it passes; the first one is 0."""
    [finding] = exploration(draws=True).replay(Plan.parse(PLAN))["findings"]
    rows = finding["story"]["rows"]
    of_first = [row["point"] for row in rows if row["subject"] == 0]

    assert of_first[:3] == ["request_id.check", "command.validate", "command_bus.send"]
    assert "command.acknowledge" in of_first
    assert len({row["subject"] for row in rows if row["point"].startswith("event.deliver")}) == 1


def test_each_message_says_what_it_came_of():
    """A stream of its command, an event of its stream, a saga's command of the event, what is loaded of the command."""
    [finding] = exploration(draws=True).replay(Plan.parse(PLAN))["findings"]
    rows = finding["story"]["rows"]
    first = {}
    for row in rows:
        first.setdefault((row["lane"], row["point"].partition(":")[0]), row)
    placed = first["gateway:o-1", "command_bus.send"]
    stored = first["o-1", "event_store.append"]
    heard = first["OrderSaga.placed@o-1", "event.deliver"]
    sent = first["gateway:s-1", "command_bus.send"]

    assert placed["cause"] == -1
    assert stored["cause"] == placed["subject"]
    assert first["o-1", "state_event_bus.send"]["cause"] == stored["subject"]
    assert heard["cause"] == stored["subject"]
    assert sent["cause"] == heard["subject"]
    assert first["s-1", "snapshot.load"]["cause"] == first["s-1", "event_store.load"]["cause"] == sent["subject"]
    assert first["s-1", "event_store.append"]["cause"] == sent["subject"]


def test_nobody_asks():
    """Where no report is asked for, nothing is kept."""
    [finding] = exploration().replay(Plan.parse(PLAN))["findings"]

    assert finding["report"]
    assert finding["story"] is None


def test_stories_are_few():
    """The first findings of each sort keep theirs, up to a number of all."""
    kinds = [f"law {number}" for number in range(MOST_STORIES)]
    findings = [finding(law) for law in kinds for _ in range(MOST_ALIKE + 1)]
    keep_some(findings)

    told = [place for place, finding in enumerate(findings) if finding["story"] is not None]
    assert told == [0, 1, 3, 4, 6, 7, 9, 10]


def test_those_that_fail_a_test_come_first():
    """What is declared, healed or known has a story where there is room."""
    excused = [finding("a", declared=True), finding("b", known=True), finding("c", healed="restart")]
    findings = [*excused, *(finding(f"{number}") for number in range(MOST_STORIES - 1))]
    keep_some(findings)

    assert [place for place, each in enumerate(findings) if each["story"] is None] == [1, 2]


def test_a_long_run_keeps_what_went_wrong(monkeypatch):
    """Its ends, what was struck and what is around it; the rows in between are counted; the departure keeps its row."""
    rows = exploration().explorer.base.played.rows
    rows[9].outcome = "fail"
    monkeypatch.setattr(run_json, "MOST_ROWS", 12)
    monkeypatch.setattr(run_json, "_LAST", 3)
    told, left_out, departure = rows_json(rows, 10)

    assert len(told) == 12
    assert left_out == len(rows) - 12
    assert [told[0]["point"], told[-1]["point"]] == [rows[0].point, rows[-1].point]
    assert told[departure]["point"] == rows[10].point
    assert [row["outcome"] for row in told].count("fail") == 1
