"""What a suite came to, for people: one document, and what is made of it."""
