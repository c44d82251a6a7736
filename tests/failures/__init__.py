"""The failure gallery: mistakes that people make, each with the text that they get."""
