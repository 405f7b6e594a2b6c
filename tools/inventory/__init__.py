"""Show what a deployment has really made: read back from each service's API, never from the template."""

from collections.abc import Callable, Iterator

from tools.inventory.account import Account
from tools.inventory.clusters import clusters
from tools.inventory.machines import images, keys, machines
from tools.inventory.network import network, security_groups
from tools.inventory.serving import doors, services
from tools.inventory.storage import buckets, file_systems

SECTIONS: dict[str, Callable[[Account], Iterator[str]]] = {
    "Network": network,
    "Security groups": security_groups,
    "File systems": file_systems,
    "Buckets": buckets,
    "Clusters": clusters,
    "Machines": machines,
    "Images": images,
    "Keys and secrets": keys,
    "Door": doors,
    "Services": services,
}


def lines(deployment: str, region: str) -> Iterator[str]:
    """Everything that the deployment's stacks have made, section by section."""
    aws = Account(deployment, region)
    for title, section in SECTIONS.items():
        if shown := list(section(aws)):
            yield from (f"\n== {title}", *shown)
