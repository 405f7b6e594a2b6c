"""Show what a deployment has really made: read back from each service's API, never from the template."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cdk_trainyard import account
from cdk_trainyard.cli.inventory.account import Account, Row
from cdk_trainyard.cli.inventory.clusters import clusters
from cdk_trainyard.cli.inventory.machines import images, keys, machines
from cdk_trainyard.cli.inventory.network import network, security_groups
from cdk_trainyard.cli.inventory.serving import doors, services
from cdk_trainyard.cli.inventory.storage import buckets, databases, file_systems
from cdk_trainyard.operations import Deployed

SECTIONS: dict[str, Callable[[Account], Iterator[Row]]] = {
    "Network": network,
    "Security groups": security_groups,
    "File systems": file_systems,
    "Buckets": buckets,
    "Databases": databases,
    "Clusters": clusters,
    "Machines": machines,
    "Images": images,
    "Keys and secrets": keys,
    "Door": doors,
    "Services": services,
}


def sections(account: account.Account, deployed: Deployed) -> Iterator[tuple[str, list[Row]]]:
    """Yield what the deployment's stacks have made, section by section; without what is empty.

    Args:
        account: The account.
        deployed: The stacks.
    """
    aws = Account(account, deployed)
    for title, section in SECTIONS.items():
        if shown := list(section(aws)):
            yield title, shown


def text(found: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """Yield lines for people.

    Args:
        found: Sections by their titles.
    """
    for title, rows in found.items():
        yield from (f"\n== {title}", *map(str, rows))


def data(found: Mapping[str, Sequence[Row]]) -> dict[str, list[dict[str, Any]]]:
    """Return data for programs: what is of a higher level belongs to what stands before it.

    Args:
        found: Sections by their titles.
    """
    return {
        title: [
            {
                "kind": row.label.strip(),
                "level": (len(row.label) - len(row.label.lstrip())) // 2,
                "name": row.name,
                "facts": list(row.facts),
            }
            for row in rows
        ]
        for title, rows in found.items()
    }
