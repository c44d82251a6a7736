"""The options in `pytest --help`."""

from __future__ import annotations

import pytest

from wowspec import plugin


class Group:
    """A group of options, as pytest keeps one."""

    def __init__(self, head):
        self.head = head
        self.options = {}

    def addoption(self, flag, **takes):
        self.options[flag] = takes


class Parser:
    """Remembers what is registered."""

    def __init__(self):
        self.groups = {}
        self.ini = {}

    def getgroup(self, name, head):
        return self.groups.setdefault(name, Group(head))

    def addini(self, name, help, **_takes):
        self.ini[name] = help


@pytest.fixture
def parser():
    """With all that the plugin registers."""
    made = Parser()
    plugin.pytest_addoption(made)
    return made


def test_options_stand_in_groups_of_their_own(parser):
    """Each head says whose they are and what for; each option has help, and a name of ours."""
    assert all(group.head.startswith("wowspec: ") for group in parser.groups.values())
    assert [list(group.options) for group in parser.groups.values() if not group.options] == []
    for group in parser.groups.values():
        for flag, takes in group.options.items():
            assert flag.startswith("--wowspec-")
            assert takes["help"]
            assert takes["dest"].startswith("wowspec_")


def test_each_table_of_options_is_registered(parser):
    """A new one is shown, and known where an option is misspelt."""
    tables = [
        table
        for name, table in vars(plugin).items()
        if name.endswith("_OPTIONS") and name != "_ALL_OPTIONS"
    ]  # fmt: skip
    flags = [flag for table in tables for flag, _, _ in table]

    assert sorted(flags) == sorted(flag for group in parser.groups.values() for flag in group.options)
    assert [flag for flag, _, _ in plugin._ALL_OPTIONS] == flags


def test_ini_keys_are_told(parser):
    """As the options are."""
    assert set(parser.ini) >= {"wowspec_baseline", "wowspec_using"}
    assert all(parser.ini.values())
