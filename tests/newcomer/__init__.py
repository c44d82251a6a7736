"""Domains and specs of people who knew the docs and nothing else, kept as they wrote them."""
