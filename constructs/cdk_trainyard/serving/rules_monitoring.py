"""What thresholds are. Pure."""

from collections.abc import Mapping

from cdk_trainyard.tokens import unresolved


def threshold_problems(thresholds: Mapping[str, float]) -> list[str]:
    """Check that every threshold is more than nothing: an alarm at 0 never rests."""
    return [
        f"{key!r} must be more than 0, got {value:g}"
        for key, value in thresholds.items()
        if not unresolved(value) and value <= 0
    ]
