"""ARPA files and folders of counts."""
