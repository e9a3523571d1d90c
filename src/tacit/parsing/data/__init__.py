"""Parse trees, tagged sentences, tags, word vectors."""
