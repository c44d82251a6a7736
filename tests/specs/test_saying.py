"""What a failure text shows of an error of the author's, whatever the error does."""

from __future__ import annotations

import pytest

from wowspec import SpecError, SpecFailure
from wowspec.errors import printable
from wowspec.specs.saying import first_line, text_of, traceback_text


class Silent(Exception):
    """Cannot say what it says."""

    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __str__


def fall(depth):
    """Raise far down."""
    if depth == 0:
        raise ValueError("deep down")
    fall(depth - 1)


def with_notes():
    """Raise an error that has a note."""
    error = ValueError("noted")
    error.add_note("one note\nof two lines")
    raise error


def translated():
    """Raise one error from another."""
    try:
        {}["k"]
    except KeyError as error:
        raise ValueError("translated") from error


def while_handling():
    """Raise one error while another is handled."""
    try:
        {}["k"]
    except KeyError:
        raise ValueError("clumsy")  # noqa: B904


def hidden():
    """Raise one error, and hide the one before it."""
    try:
        {}["k"]
    except KeyError:
        raise ValueError("alone") from None


def group():
    """Raise several at once."""
    raise ExceptionGroup("both", [ValueError("a"), ExceptionGroup("inner", [Silent(), KeyError("c")])])


def raised(function, *arguments):
    """What is told of the error that a function raises."""
    try:
        function(*arguments)
    except Exception as error:
        # From the function on: this frame is not the author's.
        return traceback_text(error.with_traceback(error.__traceback__.tb_next))
    raise AssertionError


def words(text):
    """Without places and sources."""
    return [line.strip() for line in text.splitlines() if not line.lstrip().startswith(("tests/", "raise ", "{}["))]


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (with_notes, ["ValueError: noted", "one note", "of two lines"]),
        (translated, ["ValueError: translated", "raised from:", "KeyError: 'k'"]),
        (while_handling, ["ValueError: clumsy", "raised while handling:", "KeyError: 'k'"]),
        (hidden, ["ValueError: alone"]),
        (
            group,
            [
                "ExceptionGroup: both (2 sub-exceptions)",
                "1 of 2:",
                "ValueError: a",
                "2 of 2:",
                "ExceptionGroup: inner (2 sub-exceptions)",
                "1 of 2:",
                "Silent: <Silent, whose str raises RuntimeError>",
                "2 of 2:",
                "KeyError: 'c'",
            ],
        ),
    ],
)
def test_the_errors_behind_an_error(function, told):
    """Notes, causes and members of a group are told, each with its words."""
    assert words(raised(function)) == told


def test_where_it_was_raised():
    """Each frame has its place, its function and its line; a recursion is cut in the middle."""
    lines = raised(fall, 200).splitlines()

    assert lines[0].endswith("in fall")
    assert lines[1] == "      fall(depth - 1)"
    assert "    … 191 more frames …" in lines
    assert lines[-2:] == ['      raise ValueError("deep down")', "    ValueError: deep down"]
    assert len(lines) == 22


def test_what_is_too_long():
    """Megabytes are cut, and what is left out is counted; a pattern is looked for in all of it."""
    long, lines = ValueError("x" * 3_000_000 + "end"), ValueError("\n".join(map(str, range(1_000))))

    assert len(traceback_text(long)) < 2_100
    assert traceback_text(long).endswith("end")
    assert traceback_text(lines).splitlines()[-1].strip() == "… 980 more lines …"
    assert text_of(long, 1 << 62) == str(long)


def test_an_error_that_leads_to_itself():
    """A circle of causes ends."""
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first

    assert words(traceback_text(first)) == ["ValueError: first", "raised from:", "ValueError: second"]


def test_a_text_cannot_reach_the_terminal():
    """Colours, moves of the cursor, directions of writing and halves of characters are shown, not obeyed."""
    said = "\x1b[31mred\x1b[0m \x07 a\rb \x85 \u202egnp \ud800 ünï 日本 🎉\n\ttab"
    shown = "\\x1b[31mred\\x1b[0m \\x07 a\\rb \\x85 \\u202egnp \\ud800 ünï 日本 🎉\n\ttab"

    assert printable(said) == shown
    assert str(SpecFailure(said)) == shown
    assert str(SpecError(said)) == shown
    assert first_line(ValueError(f"{said}\nmore")) == shown.partition("\n")[0]
    assert traceback_text(ValueError("a\r\nb\x1b[0m")).split() == ["ValueError:", "a", "b\\x1b[0m"]
