"""Tables that several nodes share."""
