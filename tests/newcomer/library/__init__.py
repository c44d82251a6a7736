"""A lending library and its specs, as somebody wrote them who knew the README and nothing else.

They are kept as they were written, but for formatting and docstrings: what reads well to a newcomer must go on to work.
"""
