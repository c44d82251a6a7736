"""Specs that fail, for the texts that pytest shows of them; run in a process of their own."""
