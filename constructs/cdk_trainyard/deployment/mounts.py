"""The file systems that nodes mount, as `MountFacts`, from the ``storage:`` section."""

from collections.abc import Iterator, Mapping
from typing import Final

from cdk_trainyard.deployment.network import ACCELERATOR, accelerator_zone
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.deployment.storage import ExistingLustreSection, LustreSection, OpenZfsSection
from cdk_trainyard.network.subnet_layout import LARGEST_SUBNET, usable_addresses
from cdk_trainyard.problems import At
from cdk_trainyard.storage.mount_facts import MountFacts
from cdk_trainyard.storage.resolve import file_servers, resolve_lustre
from cdk_trainyard.tokens import unresolved

_MOST_SERVERS: Final = usable_addresses(LARGEST_SUBNET)
_MADE: Final = "fs-00000000000000000"
"""What stands for the id of a file system that is made."""


def mounts_of(deployment: DeploymentSpec) -> Mapping[At, MountFacts]:
    """Return the file systems that have the right form, by where they stand; a new one is made in the nodes' zone.

    Args:
        deployment: The deployment.
    """
    storage, zone = deployment.storage, accelerator_zone(deployment.network, deployment.environment.region)
    mounts: dict[At, MountFacts] = {}
    match storage.lustre:
        case LustreSection() as lustre:
            made = resolve_lustre(lustre)
            servers, kind, version = file_servers(made), made.deployment.facts, made.lustre_version
            runs = kind is not None and not unresolved(version) and version in kind.versions
            mounts["storage", "lustre"] = MountFacts(
                path=lustre.at,
                identity=_MADE,
                zone=zone,
                efa_enabled=lustre.efa_enabled,
                lustre_version=version if runs else None,  # of another its kind says it
                subnet=ACCELERATOR,
                file_servers=servers if servers and servers <= _MOST_SERVERS else None,  # of more its capacity says it
                repositories=tuple(_repositories(lustre)),
            )
        case ExistingLustreSection() as lustre:
            mounts["storage", "lustre"] = MountFacts(
                path=lustre.at, identity=lustre.file_system_id, zone=lustre.zone, efa_enabled=lustre.efa_enabled
            )
    match storage.open_zfs:
        case OpenZfsSection() as open_zfs:
            mounts["storage", "open_zfs"] = MountFacts(path=open_zfs.at, kind="OpenZFS", identity=open_zfs.dns_name)
    return mounts


def _repositories(lustre: LustreSection) -> Iterator[str]:
    links = () if unresolved(lustre.data_repositories) else lustre.data_repositories
    for link in links:
        if not unresolved(link) and not unresolved(lustre.at, link.file_system_path):
            yield "/".join((lustre.at, *link.segments))
