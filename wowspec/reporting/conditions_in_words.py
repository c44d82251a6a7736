"""Conditions in words: `lambda account: account.balance >= 0` is "balance is at least 0"; others stay code."""

from __future__ import annotations

import ast
from typing import Any, Final

from ..specs.conditions import source_of
from .wording import joined, title, value_in_words, words


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
        return _said(body, parameters[0] if parameters else "")
    except (SyntaxError, _TooHardError):
        return f"`{source}`"


class _TooHardError(Exception):
    """The expression is not put into words."""


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


def _said(node: ast.expr, subject: str) -> str:
    match node:
        case ast.BoolOp(op=op, values=values):
            if any(isinstance(value, ast.BoolOp) for value in values):
                raise _TooHardError
            return joined((_said(value, subject) for value in values), "and" if isinstance(op, ast.And) else "or")
        case ast.UnaryOp(op=ast.Not(), operand=ast.Attribute() as held):
            return f"not {_thing(held, subject)}"
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return f"{_thing(left, subject)} {_COMPARED[type(op)]} {_thing(right, subject)}"
        case ast.Compare(left=low, ops=[ast.LtE(), ast.LtE()], comparators=[middle, high]):
            thing, least, most = (_thing(each, subject) for each in (middle, low, high))
            return f"{thing} is from {least} to {most}"
        case ast.Attribute():
            return _thing(node, subject)
    raise _TooHardError


def _thing(node: ast.expr, subject: str) -> str:
    match node:
        case ast.Constant(value=value):
            return "nothing" if value is None else value_in_words(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return value_in_words(-number)
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if name == subject:
            return words(attr)
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str() as key)) if name == subject:
            return words(key)
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if name[:1].isupper():
            # A member of an enumeration.
            return words(attr)
        case ast.Attribute(value=ast.Attribute() as held, attr=attr):
            return f"{words(attr)} of {_thing(held, subject)}"
        case ast.Call(func=ast.Name(id="len"), args=[held]):
            return f"the number of {_thing(held, subject)}"
        case ast.Name(id=name) if name == subject:
            return "it"
        case ast.Name(id=name) if name[:1].isupper():
            return title(name)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return joined(_thing(item, subject) for item in items) or "nothing"
    raise _TooHardError
