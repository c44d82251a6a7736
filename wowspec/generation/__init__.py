"""Hypothesis strategies from what a domain declares: values, commands, reachable histories."""

from __future__ import annotations

from . import strategies as strategies
