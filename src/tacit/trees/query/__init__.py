"""What a question says, as evidence."""
