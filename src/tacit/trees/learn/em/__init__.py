"""EM for latent classes and for hidden nodes with many states."""
