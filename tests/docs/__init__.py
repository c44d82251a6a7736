"""Tests of the pages in `docs/`, and what makes some of them."""
