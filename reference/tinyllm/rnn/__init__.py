"""Recurrent layers; import each from its own module."""
