"""Finds the prose of the tree, and judges its sentences by the rules for plain English."""
