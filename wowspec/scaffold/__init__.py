"""What `wowspec new` writes: a small project whose specs pass."""
