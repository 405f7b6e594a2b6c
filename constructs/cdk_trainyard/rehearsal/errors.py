"""The one exception of a rehearsal."""


class RehearsalError(RuntimeError):
    """The rehearsal cannot go on; the message says why, in a sentence for a person."""
