"""The language: given, when, expect."""
