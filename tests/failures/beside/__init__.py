"""The same ten mistakes in three kits."""
