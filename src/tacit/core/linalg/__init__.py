"""Linear algebra: SVD, joint diagonalisation, tensor power, simplex."""
