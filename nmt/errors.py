"""The exceptions whose text is shown as a single line, without a traceback."""

from __future__ import annotations


class UserError(ValueError):
    """A mistake in the user's input; the message names the file, line or key and what is allowed there."""


class Unsuccessful(Exception):
    """The command did its work and the outcome is bad (training diverged); shown as a single line, exit code 1."""
