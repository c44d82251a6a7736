"""Knock-out runs: each row of each ordered table is dropped in turn, and a marked test must notice."""
