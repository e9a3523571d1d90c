"""Small changes of trees that numbers need."""
