"""Measures a claim of the documents each, for its figures."""
