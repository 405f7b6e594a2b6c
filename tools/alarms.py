"""Write the table of alarms in the README of the room ``monitoring`` from the data that rules are made of.

``python -m tools.alarms`` exits with 1 when it is another; ``--write`` renews it.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from cdk_trainyard.monitoring.alarms import Alarm, alarms
from tools.keywords import PACKAGE

PAGE: Final = PACKAGE / "monitoring" / "README.md"
_BEGIN: Final = "<!-- alarms: python -m tools.alarms --write -->\n"
_END: Final = "<!-- end -->\n"
_LABEL: Final = re.compile(r"\{\{ \$labels\.(\w+) \}\}")
_VALUE: Final = re.compile(r"\{\{ \$value[^}]*\}\}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, or write, the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="renew the table")
    write = parser.parse_args(arguments).write
    old = PAGE.read_text(encoding="utf-8")
    new = renewed(old)
    if write and new != old:
        PAGE.write_text(new, encoding="utf-8")
    return 1 if new != old and not write else 0


def renewed(page: str) -> str:
    """Return the page with the table of today.

    Args:
        page: The page.
    """
    before, _, rest = page.partition(_BEGIN)
    lines = "".join(f"{line}\n" for line in table())
    return f"{before}{_BEGIN}{lines}{_END}{rest.partition(_END)[2]}"


def table() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| alarm | of | says | rings when, for | do |"
    yield "|---|---|---|---|---|"
    for alarm in alarms():
        says = _VALUE.sub("…", _LABEL.sub(r"\1", alarm.summary))
        name = f"`{alarm.name}`, {alarm.severity}"
        yield f"| {name} | {' and '.join(alarm.asked)} | {says}: {alarm.means} | {_when(alarm)} | {_do(alarm)} |"


def _when(alarm: Alarm) -> str:
    number = "" if alarm.threshold is None else f"{alarm.threshold:g} {alarm.unit}, "
    return f"{number}{alarm.minutes} minutes; {alarm.source}"


def _do(alarm: Alarm) -> str:
    return f"{_LABEL.sub(lambda label: label[1].upper(), alarm.do)} (`{alarm.command}`)".replace("|", r"\|")


if __name__ == "__main__":
    sys.exit(main())
