"""What was observed: tables, categories, missing values, frames, chunks."""
