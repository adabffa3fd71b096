"""Recurrent layers; import each from its own module. This package re-exports nothing."""
