"""Times of a capacity block: in UTC, to the second."""

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, Final

from cdk_trainyard.problems import Flaw, shown
from cdk_trainyard.tokens import unresolved

TIME: Final = "%Y-%m-%dT%H:%M:%SZ"
"""How a time is written, as EC2 and Auto Scaling do."""
BEFORE_END: Final = timedelta(minutes=40)
"""Auto Scaling user guide, "Use Capacity Blocks for machine learning workloads": scale in to zero more than 30 minutes
before the end, when EC2 begins to terminate what still runs."""
BLOCKS_END: Final = time(11, 30)
"""EC2 user guide, "Find and purchase Capacity Blocks": all of them end at 11:30AM UTC."""
LONGEST: Final = timedelta(days=183)
"""The same, and "Extend Capacity Blocks" (read 2026-11): 182 days in all, and a part of a day, as they end at one time
and begin at others."""
_FIRST_YEAR: Final = 2026
"""Of this library: what was before never comes."""
_FORM: Final = r"[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}Z"
_EXAMPLE: Final = "2027-06-01T11:30:00Z"


def block_time(text: str | None) -> datetime | None:
    """Return a time, or None when it is not known, or not written as one.

    Args:
        text: The time, as ``"2027-06-01T11:30:00Z"``.
    """
    if text is None or unresolved(text) or re.fullmatch(_FORM, text) is None:
        return None
    try:
        return datetime.strptime(text, TIME)  # noqa: DTZ007  both are of UTC, and nothing else is compared with them
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class UtcTime:
    """A time in UTC, to the second: a kind of `cdk_trainyard.options`."""

    def problem(self, value: Any, _environment: object) -> Flaw | None:
        """Read it."""
        when = block_time(value)
        if when is None and re.fullmatch(_FORM, value):
            return Flaw("must be a time of a day that there is", got=shown(value))
        if when is None:
            return Flaw(f"must be a time in UTC, as {_EXAMPLE}", got=shown(value))
        return None if when.year >= _FIRST_YEAR else Flaw(f"must be of {_FIRST_YEAR} or later", got=shown(value))

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        return {"pattern": f"^{_FORM}$", "examples": [_EXAMPLE]}
