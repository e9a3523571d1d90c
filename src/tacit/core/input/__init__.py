"""What users bring: frames, columns of values, files, text, chunks of rows."""
