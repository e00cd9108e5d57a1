"""Checks of sources that take longer than those beside this folder."""
