"""Small domains with one defect each, and their corrected twins."""
