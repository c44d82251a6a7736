"""What a sender waits for is one of a spec's steps: pasted code says it, and specs that wait otherwise differ."""

from __future__ import annotations

import pytest

from wowspec.exploration.pasting import _wait
from wowspec.messages import wait_plans
from wowspec.messages.wait_plans import chain, event_handled, processed, projected, saga_handled, sent, snapshot


@pytest.mark.parametrize(
    "wait",
    [
        sent(),
        processed(),
        snapshot(),
        projected("shop"),
        event_handled("shop", "Mailer", "on_placed"),
        saga_handled("shop", function="on_placed"),
        chain(saga_handled("shop", processor="OrderSaga"), then=projected("stock", "StockView")),
        processed().with_timeout(milliseconds=5),
    ],
    ids=_wait,
)
def test_a_wait_as_code_is_that_wait(wait):
    """Each stage, with the names of its function, the chain and the deadline."""
    assert eval(_wait(wait), dict(vars(wait_plans))) == wait
