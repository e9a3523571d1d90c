"""Code that several families of models share; it depends on none of them."""
