"""Measurements: ratios and frequencies, which no test asserts."""
