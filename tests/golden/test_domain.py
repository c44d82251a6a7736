"""The domain of the recorded runs does what the recorded one does where no recorded case shows it."""

from __future__ import annotations

import pytest

from tests.golden.drive_pipeline import Run


@pytest.mark.parametrize("amount", [0, -5])
def test_the_gateway_refuses_what_the_saga_sends(amount):
    """The saga makes a deposit that isn't positive; the gateway finds it, as it does for a client's command."""
    case = {
        "profile": {"request_id_existence": "store", "downstream": True},
        "given": [{"command": "OpenAccount", "body": {"id": "a1", "holder": "ann", "balance": 10}}],
        "faults": [],
        "when": [
            {
                "command": "Withdraw",
                "body": {"id": "a1", "amount": amount, "to": "a2"},
                "api": "send_and_wait",
                "wait": {
                    "stage": "SAGA_HANDLED", "context": "golden", "processor": "TransferSaga", "timeout_ms": 2500,
                },
            }
        ],
    }  # fmt: skip

    result = Run(case).result()

    assert result["lanes"]["gateway:a2"] == [["request_id.check", "ok", "true"], ["command.validate", "violations:1"]]
    assert [signal["error_code"] for signal in result["signals"] if signal["stage"] == "SAGA_HANDLED"] == [
        "CommandValidation"
    ]
