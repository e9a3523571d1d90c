"""Parameters made better: EM, online EM, acceleration, stopping rules."""
