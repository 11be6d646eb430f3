"""Sources of the runner and the schema of its run record, as package data; there is no Python code here."""
