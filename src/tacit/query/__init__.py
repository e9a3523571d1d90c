"""What can be asked: probabilities, conditionals, samples, completions."""
