"""A file of what is extracted from ParallelCluster: written, or compared with what would be written."""

from collections.abc import Callable, Sequence
from pathlib import Path


def renew(arguments: Sequence[str], path: Path, date: str, text: Callable[[str], str]) -> int:
    """Write a file, or with ``--check`` compare it; return the exit code.

    Args:
        arguments: Of the command: ``--check``, and a new date of the extraction.
        path: The file.
        date: The date that it has.
        text: Returns what it says with a date.
    """
    (date,) = [argument for argument in arguments if argument != "--check"] or [date]
    new = text(date)
    if "--check" not in arguments:
        path.write_text(new)
        return 0
    same = path.read_text() == new
    print(f"{path.name} is that of the package" if same else f"{path.name} differs from the package; extract it again")
    return 0 if same else 1
