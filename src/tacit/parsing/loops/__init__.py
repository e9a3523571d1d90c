"""Compiled charts and passes over trees."""
