"""What the evaluator refuses to guess about."""


class PolicyError(ValueError):
    """A policy, or a request, says something that has no defined meaning here; the message names it and where."""
