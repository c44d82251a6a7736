"""What a spec's author wrote, as text."""

from __future__ import annotations

from typing import Any

from .items import CommandOf
from .render import render, render_call


def shown(command: Any) -> str:
    """A command as the author would write it."""
    if isinstance(command, CommandOf):
        return render_call(command.command_class.__name__, command.fields.items())
    return render(command)
