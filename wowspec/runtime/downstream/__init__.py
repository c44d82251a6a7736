"""What happens after publication: snapshots, projections, event processors, sagas."""
