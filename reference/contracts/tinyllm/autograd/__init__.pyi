"""Tensors with gradients, and the functions that compute with them."""
