"""Conditions in words: `lambda account: account.balance >= 0` is "balance is at least 0"; others stay code."""

from __future__ import annotations

import ast
import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from ..specs.conditions import source_of
from .wording import joined, value_in_words, words


def condition_in_words(function: Any) -> str:
    """What a condition says: in words where it is simple, else as its author wrote it."""
    if not callable(function):
        return value_in_words(function)
    name = getattr(function, "__name__", "")
    if name and name != "<lambda>":
        return words(name)
    source = source_of(function)
    parameters = getattr(getattr(function, "__code__", None), "co_varnames", ())
    try:
        body = ast.parse(source, mode="eval").body
        return _said(body, _Scope(parameters[0] if parameters else "", function))
    except (SyntaxError, _TooHardError):
        return f"`{source}`"


class _TooHardError(Exception):
    """The expression is not put into words."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """What names mean in a condition.

    Attributes:
        subject: the name of what it is asked of.
        function: the condition.
    """

    subject: str
    function: Any

    def value(self, name: str) -> str:
        """The value of a name, in words, where that says something.

        Raises:
            _TooHardError: if it is no plain value.
        """
        code, cells = self.function.__code__, self.function.__closure__ or ()
        held = dict(zip(code.co_freevars, cells, strict=False))
        try:
            found = held[name].cell_contents if name in held else self.function.__globals__[name]
        except (KeyError, ValueError):
            raise _TooHardError from None
        if isinstance(found, _PLAIN):
            return value_in_words(found)
        raise _TooHardError


_PLAIN: Final = (str, int, float, Decimal, dt.date, dt.time, dt.timedelta, Enum)


_COMPARED: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "is",
    ast.NotEq: "is not",
    ast.Lt: "is less than",
    ast.LtE: "is at most",
    ast.Gt: "is more than",
    ast.GtE: "is at least",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "is among",
    ast.NotIn: "is not among",
}


def _said(node: ast.expr, scope: _Scope) -> str:
    match node:
        case ast.BoolOp(op=op, values=values):
            if any(isinstance(value, ast.BoolOp) for value in values):
                raise _TooHardError
            return joined((_said(value, scope) for value in values), "and" if isinstance(op, ast.And) else "or")
        case ast.UnaryOp(op=ast.Not(), operand=ast.Attribute() as held):
            return f"not {_thing(held, scope)}"
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return f"{_thing(left, scope)} {_COMPARED[type(op)]} {_thing(right, scope)}"
        case ast.Compare(left=low, ops=[ast.LtE(), ast.LtE()], comparators=[middle, high]):
            thing, least, most = (_thing(each, scope) for each in (middle, low, high))
            return f"{thing} is from {least} to {most}"
        case ast.Attribute():
            return _thing(node, scope)
    raise _TooHardError


#: What a world is asked for, by instance.
_ASKED: Final[dict[str, str]] = {"aggregate": "{}", "state": "{}", "stored": "events of {}"}


def _of_world(asked: str, args: list[ast.expr]) -> str:
    """What a condition asks of the whole world: "order o-1", "rows of the order board"."""
    match args:
        case [ast.Name(id=kind), ast.Constant(value=str() as id_)] if asked in _ASKED:
            return _ASKED[asked].format(f"the {words(kind)} {value_in_words(id_)}")
        case [ast.Name(id=kind)] if asked == "views":
            return f"rows of the {words(kind)}"
    raise _TooHardError


def _thing(node: ast.expr, scope: _Scope) -> str:
    match node:
        case ast.Constant(value=value):
            return "nothing" if value is None else value_in_words(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return value_in_words(-number)
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if name == scope.subject:
            return words(attr)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str() as key)) if name == scope.subject:
            return words(key)
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if name[:1].isupper():
            # A member of an enumeration.
            return words(attr)
        case ast.Attribute(value=ast.Attribute() | ast.Call() as held, attr=attr):
            return f"{words(attr)} of {_thing(held, scope)}"
        case ast.Call(func=ast.Name(id="len"), args=[held]):
            return f"the number of {_thing(held, scope)}"
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=asked), args=args) if name == scope.subject:
            return _of_world(asked, args)
        case ast.Name(id=name) if name == scope.subject:
            return "it"
        case ast.Name(id=name):
            return scope.value(name)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return joined(_thing(item, scope) for item in items) or "nothing"
    raise _TooHardError
