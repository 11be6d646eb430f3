"""Programs for maintainers, not installed: benchmarks, placements on networks, tables of documents, `mapfiles`."""
