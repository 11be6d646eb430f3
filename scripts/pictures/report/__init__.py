"""The report page: run records, their predictions, and their torus, in a single file that needs no network."""
