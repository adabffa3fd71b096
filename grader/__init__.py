"""Grades students' own property tests by mutation, in a sandbox."""

from importlib.metadata import version

__version__ = version("grader")
