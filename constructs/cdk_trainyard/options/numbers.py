"""Numbers that not every reader of YAML takes for numbers."""

from typing import Final

ELSEWHERE: Final = (
    r"[-+]?(?:0b[01_]+|0o[0-7]+|0x[0-9a-fA-F_]+|\.(?:inf|Inf|INF)"
    r"|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?)|\.(?:nan|NaN|NAN)"
)
"""Numbers of any length and in any base (YAML 1.2.2, section 10.3.2), and with ``_`` between digits and in binary (YAML
1.1, "Integer" and "Floating-Point Language-Independent Type"). Those by sixty, as ``1:30``, are text here."""


class NumberElsewhere(str):
    """Text without quotes that other readers of YAML take for a number: none here, and no text either."""

    __slots__ = ()
