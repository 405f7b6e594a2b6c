"""What a number is by a key that counts in another unit than the one it was written for. Pure."""

from fractions import Fraction
from typing import Final

TIME: Final = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}
SIZE: Final = {"mb": 1000**2, "gb": 1000**3, "tb": 1000**4, "mib": 1024**2, "gib": 1024**3, "tib": 1024**4}
"""Words with which keys end → how many seconds, or bytes, one of them is."""
_WRITTEN: Final = {"mb": "MB", "gb": "GB", "tb": "TB", "mib": "MiB", "gib": "GiB", "tib": "TiB"}


def in_its_unit(key: str, unit: str, value: object) -> str:
    """Return in what unit a key counts, and a value in it where that is a whole number, as the end of the key's name.

    Args:
        key: The key.
        unit: The unit that the value was written in, or a key that ends with it.
        value: The value.

    Returns:
        Nothing where both count alike, GB and GiB included, which many write for each other.
    """
    wanted, said = (name.rpartition("_")[2] for name in (key, unit))
    measure = next((each for each in (TIME, SIZE) if {wanted, said} <= each.keys()), None)
    if measure is None or wanted[0] == said[0]:
        return ""
    count = value if isinstance(value, int) and not isinstance(value, bool) else 0
    number = Fraction(count * measure[said], measure[wanted])
    whole = f": {number}" if number > 0 and number.denominator == 1 else ""
    return f", in {_WRITTEN.get(wanted, wanted)}{whole}"
