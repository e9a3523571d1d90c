"""What commands print of models, one module for each kind of data."""
