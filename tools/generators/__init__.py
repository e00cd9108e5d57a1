"""Writes sources that are kept in the repository."""
