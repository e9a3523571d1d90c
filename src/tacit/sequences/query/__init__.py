"""Filtering, smoothing, Viterbi paths, prediction, sampling."""
