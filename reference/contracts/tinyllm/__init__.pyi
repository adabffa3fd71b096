"""A small language model library, built one module at a time on numpy alone."""
