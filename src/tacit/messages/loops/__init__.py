"""Compiled passes over subtree patterns."""
