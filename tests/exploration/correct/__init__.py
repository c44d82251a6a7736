"""Systems that are correct: whatever a profile lets go wrong, nothing that breaks is due to them."""
