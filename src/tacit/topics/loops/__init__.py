"""Compiled passes over documents."""
