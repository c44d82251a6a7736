"""The fidelity ledger: which clause of the behaviour contract is pinned where."""
