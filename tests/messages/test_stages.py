"""The table of stages."""

from __future__ import annotations

import pytest

from wowspec.errors import IllegalArgumentError
from wowspec.messages.stages import FUNCTION_STAGES, STAGES, WANTED, CommandStage, parse_stage, stage_of_text

SENT, PROCESSED, SNAPSHOT, PROJECTED, EVENT_HANDLED, SAGA_HANDLED = CommandStage


@pytest.mark.clause("CMD-332", "PRJ-007")
def test_prerequisites():
    """PROCESSED comes after SENT; the four later stages after both, and not after each other."""
    assert {row.stage: set(row.prerequisites) for row in STAGES} == {
        SENT: set(),
        PROCESSED: {SENT},
        SNAPSHOT: {SENT, PROCESSED},
        PROJECTED: {SENT, PROCESSED},
        EVENT_HANDLED: {SENT, PROCESSED},
        SAGA_HANDLED: {SENT, PROCESSED},
    }


@pytest.mark.clause("CMD-333")
def test_a_stage_wants_itself_and_its_prerequisites():
    """A target hears of nothing that is no step on its way."""
    assert WANTED[SENT] == {SENT}
    assert WANTED[SNAPSHOT] == {SENT, PROCESSED, SNAPSHOT}


@pytest.mark.clause("CMD-334", "PRJ-007")
def test_function_stages():
    """Only projections, event processors and sagas have functions to select."""
    assert set(FUNCTION_STAGES) == {PROJECTED, EVENT_HANDLED, SAGA_HANDLED}


@pytest.mark.clause("CMD-344")
def test_text_in_any_case():
    """A caller's text may have any letter case, and nothing is trimmed."""
    assert stage_of_text("event_handled") is EVENT_HANDLED
    assert stage_of_text("sEnT") is SENT
    with pytest.raises(IllegalArgumentError, match="stages are SENT, PROCESSED"):
        stage_of_text("sent ")


@pytest.mark.clause("CMD-344")
@pytest.mark.parametrize("name", ["snapshot", "", "NOPE"])
def test_header_names_are_exact(name):
    """In headers, names are upper case."""
    with pytest.raises(IllegalArgumentError):
        parse_stage(name)
