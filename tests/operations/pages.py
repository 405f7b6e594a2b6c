"""What the page of the room says that commands need."""

import re

from tests.support import ROOT

PAGE = (ROOT / "constructs" / "cdk_trainyard" / "operations" / "README.md").read_text()
_SYSTEMS = {"hyperpod": "HyperPod", "fleet": "fleet", "parallelcluster": "ParallelCluster", "serving": "service"}


def permissions(command: str, name: str) -> set[str]:
    """Return what the page says that a command needs for a deployment."""
    section = PAGE.partition("## Permissions")[2].partition("\n## ")[0]
    heads, _, *rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    row = next(row for row in rows if row[0] == f"`{command}`")
    always = re.search("asks CloudFormation first: (.*?);", section)
    also = re.search(f"`{command}` asks for .*, where the stacks have any: (.*)", section)
    system = _SYSTEMS[name.partition("-")[0]]
    words = [row[heads.index(system)], *(found[1] for found in (always, also) if found)]
    of_events = permissions("events", name) if command == "status" else set[str]()
    return of_events | {word for word in re.findall("`(.*?)`", " ".join(words)) if ":" in word}
