"""Compiled passes over sequences: forward, backward, Viterbi, counting."""
