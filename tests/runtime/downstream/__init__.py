"""The tests of what happens after publication."""
