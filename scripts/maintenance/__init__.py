"""Programs for maintainers, not installed: benchmarks, cost of predictions, Scotch, the files in `mapfiles`."""
