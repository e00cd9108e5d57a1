"""Checks of the compiler on whole networks: what a change changes, what compiles, and what its loops reach."""
