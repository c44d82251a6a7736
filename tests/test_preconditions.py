"""Short ways to refuse."""

from __future__ import annotations

import pytest

from wowspec import NotFoundError, check, require_found
from wowspec.errors import WowError


def never() -> str:
    """A text that nobody should need."""
    raise AssertionError("asked for the text of a refusal that is none")


@pytest.mark.clause("CMD-329")
def test_a_condition():
    """What holds passes; the text is made only where it does not."""
    check(True, "CartFull", never)
    with pytest.raises(WowError, match="a hundred") as caught:
        check(False, "CartFull", lambda: "a hundred")
    assert type(caught.value) is WowError
    assert caught.value.error_code == "CartFull"
    with pytest.raises(WowError, match="plain text"):
        check(False, "CartFull", "plain text")


@pytest.mark.clause("CMD-331")
@pytest.mark.parametrize("value", [0, "", []])
def test_what_is_there(value):
    """Anything but None is found, empty or not, and comes back."""
    assert require_found(value) is value


@pytest.mark.clause("CMD-331")
def test_what_is_not_there():
    """The refusal has the text and the cause that were given."""
    cause = KeyError("p-1")
    with pytest.raises(NotFoundError, match="no product p-1") as caught:
        require_found(None, "no product p-1", cause)
    assert caught.value.error_code == "NotFound"
    assert caught.value.__cause__ is cause
