"""When a text is blank."""

from __future__ import annotations

import pytest

from wowspec.errors import BindingError, WowError
from wowspec.texts import is_blank


@pytest.mark.parametrize(
    "text", ["", " ", "\t\n\x0b\f\r", "\x1c\x1d\x1e\x1f", "\xa0\u2007\u202f", "\u1680\u3000\u2028"]
)
def test_white_space_is_blank(text):
    """Spaces that do not break a line and the separators of ASCII count, as they do in the runtime."""
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " a ", "\x85", " \x85 ", "\u200b", "\ufeff", "\u180e", "\0"])
def test_what_the_runtime_sees_is_not_blank(text):
    """NEL is a control character to the runtime, though white space to Python; what is merely invisible is no space."""
    assert not is_blank(text)


@pytest.mark.clause("CMD-327")
@pytest.mark.parametrize(("message", "shown"), [(" ", "no holder"), ("\x85", "\x85")])
def test_only_a_blank_message_gives_way(message, shown):
    """The first binding error speaks for an error whose message is blank."""
    assert str(WowError(message, binding_errors=[BindingError("holder", "no holder")])) == shown
