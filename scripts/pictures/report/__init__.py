"""The report page: run records, their predictions, and their torus, in one file that needs no network."""
