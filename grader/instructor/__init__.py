"""What authors of a course use to make and triage mutants."""
