"""Sources of the runner and the schema of its run record, as data of the package; nothing here is Python."""
