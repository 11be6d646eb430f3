"""The report page: run records, their predictions, and the torus they ran on, in one file that needs no network."""
