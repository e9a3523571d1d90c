"""Back-off models, Kneser-Ney smoothing, ensembles."""
