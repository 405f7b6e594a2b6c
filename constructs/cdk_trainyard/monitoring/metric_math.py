"""Expressions of CloudWatch's metric math."""


def percent(part: str, whole: str) -> str:
    """Return how many of a hundred one count is of another; of none it is as of one.

    IF takes time series and numbers alike; of MAX no page says that its array may hold both. Source: CloudWatch user
    guide, "Using math expressions with CloudWatch metrics", "Functions" (read 2026-11-28).

    Args:
        part: An expression, a time series.
        whole: Another one.
    """
    return f"100 * ({part}) / IF({whole} > 0, {whole}, 1)"
