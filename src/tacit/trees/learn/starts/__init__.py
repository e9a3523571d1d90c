"""Starts for EM: from moments, and by clustering rows."""
