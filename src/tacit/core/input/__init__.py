"""Input data: frames, columns of values, files, text, chunks of rows."""
