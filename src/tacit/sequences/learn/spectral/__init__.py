"""Spectral and tensor learning of HMMs."""
