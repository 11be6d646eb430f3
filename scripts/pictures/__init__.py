"""Pictures and pages: figures of placements and records, the report."""
