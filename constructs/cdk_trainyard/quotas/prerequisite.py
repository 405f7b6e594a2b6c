"""What an account needs once, before a first deployment: bootstrap, service-linked roles, certificates, capacity."""

from collections.abc import Iterable
from dataclasses import dataclass

from cdk_trainyard.data_files import load

BOOTSTRAP = "bootstrap"
"""What every deployment needs."""
_ABOUT = ("captured", "note")


@dataclass(frozen=True, kw_only=True, slots=True)
class Prerequisite:
    """One thing that an account needs once, as a service-linked role or the CDK's bootstrap.

    Source: ``data/prerequisites.json``.

    Attributes:
        what: What it is, and why it matters.
        command: The command that makes it, or that shows whether it is there.
        role: Name of the service-linked role that it is. Default - none that its service makes itself.
        made_by: The action with which its service makes that role, for who may ``iam:CreateServiceLinkedRole``.
    """

    what: str
    command: str
    role: str = ""
    made_by: str = ""

    def __str__(self) -> str:
        """The command, and what it is for."""
        return f"{self.command} ({self.what})"


def prerequisites(services: Iterable[str]) -> tuple[Prerequisite, ...]:
    """Return what services and features need once, and what everything needs, in the order of the data file.

    Args:
        services: Keys of ``data/prerequisites.json``, as ``"ecs"``.

    Raises:
        KeyError: There is no such key.
    """
    data = load("quotas", "prerequisites")
    known = [key for key in data if key not in _ABOUT]
    wanted = {BOOTSTRAP, *services}
    if unknown := wanted - set(known):
        raise KeyError(*sorted(unknown))
    rows = ({name: text for name, text in data[key].items() if name != "source"} for key in known if key in wanted)
    return tuple(Prerequisite(**row) for row in rows)
