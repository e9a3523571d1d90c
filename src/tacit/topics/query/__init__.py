"""Topics of documents, and how good topics are."""
