"""The learning rate: up in a straight line, down on half a cosine."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def factor(*, warm_up: int, steps: int, final: float) -> Callable[[int], float]:
    """Return the share of the highest rate that each step has.

    Args:
        warm_up: Steps until the highest.
        steps: Steps in all.
        final: Share that the last step has.
    """

    def share(step: int) -> float:
        if step < warm_up:
            return (step + 1) / (warm_up + 1)
        way = min(1.0, (step - warm_up) / max(1, steps - 1 - warm_up))
        return final + (1 - final) * (1 + math.cos(math.pi * way)) / 2

    return share
