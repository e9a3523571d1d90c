"""What every experiment shares: runs, records, claims, pictures."""
