"""What wowspec costs, as ratios to its neighbours in one run of one process: `python -m benchmarks`."""
