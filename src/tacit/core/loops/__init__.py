"""Compiled loops that several families share: arrays in, arrays out."""
