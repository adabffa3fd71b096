"""Reports: one module a format, all from the same grade; they return text and print nothing."""
