"""A student's files, on a disk or in an archive: named, and read as bytes, and never parsed."""
