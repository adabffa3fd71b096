"""The only code that enters a sandbox: it runs a student's tests and says what happened.

It needs the standard library, pytest and Hypothesis, and imports nothing else of grader.
"""
