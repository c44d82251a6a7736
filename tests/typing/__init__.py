"""What type checkers know of a spec; checked by mypy and pyright, not run."""
