"""What a web ACL takes. Pure."""

from cdk_trainyard.tokens import unresolved

_RATE = (10, 2_000_000_000)


def rate_problems(requests_per_address: int) -> list[str]:
    """Check the rate (``RateBasedStatement`` of WAF's API)."""
    low, high = _RATE
    if unresolved(requests_per_address) or low <= requests_per_address <= high:
        return []
    return [f"'requests_per_address' must be {low} to {high}, got {requests_per_address}; use 3000"]
