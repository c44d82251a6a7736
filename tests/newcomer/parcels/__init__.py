"""Parcels and vans: a saga, a projection, an event processor, as somebody wrote them from the docs alone."""
