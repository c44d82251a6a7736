"""The call that a strategy was asked for by, as error texts name it."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Caller:
    """A call such as `from_model(Order, ...)`.

    Attributes:
        verb: the function.
        subject: its first argument.
        prefix: what stands before the path of a field there: a command's class and a point.
    """

    verb: str
    subject: str
    prefix: str = ""

    def __str__(self) -> str:
        return f"{self.verb}({self.subject}, ...)"

    def of_command(self, name: str) -> Caller:
        """The same call, where it speaks of one command class."""
        return replace(self, prefix=f"{name}.")

    def override(self, path: str, value: str = "...") -> str:
        """The override of a field as the author would write it."""
        key = self.prefix + path.replace("[]", "")
        return f"{key}={value}" if key.isidentifier() else f'**{{"{key}": {value}}}'

    def with_override(self, path: str) -> str:
        """The whole call with an override of a field."""
        return f"{self.verb}({self.subject}, {self.override(path)})"


def name_of(subject: object) -> str:
    """A class, or whatever else a call is given, as text."""
    return getattr(subject, "__name__", None) or str(subject)
