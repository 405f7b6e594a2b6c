"""What differs from one partition of AWS to another, beside its name."""

_CHINA = "aws-cn"


def url_suffix(partition: str) -> str:
    """Return the domain of a partition's services."""
    return "amazonaws.com.cn" if partition == _CHINA else "amazonaws.com"
