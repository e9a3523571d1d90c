"""The scikit-learn doors: thin classes that join the stages."""
