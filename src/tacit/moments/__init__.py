"""Sums over the data: pairs, triples, tables of small sets, distinct patterns."""
