"""Routing rules: the loads that they cause, and tables of routes."""
