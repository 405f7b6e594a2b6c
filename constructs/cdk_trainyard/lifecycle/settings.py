"""What the node scripts are told: the typed form of ``settings.json``.

The scripts hold no configuration of their own and are never edited per cluster; what differs between clusters is
rendered from these values and travels in the same content-hashed folder as the scripts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.json_value import JsonValue
from cdk_trainyard.lifecycle.node_setup import NodeSetup, render_setting
from cdk_trainyard.tokens import unresolved

SETTINGS_FILE = "settings.json"
"""Name of the rendered settings in the folder that nodes download."""
LEGACY_FILE = "provisioning_parameters.json"
"""Name that HyperPod's agent gives the legacy topology file: it is read literally, and cannot be another."""
USERS_FILE = "shared_users.txt"
"""Name of the file of users and groups, as in AWS's own scripts."""

_SETTINGS_VERSION = 1  # of the shape of settings.json: the scripts refuse one that they do not know


class GroupRole(StrEnum):
    """What the nodes of an instance group are for."""

    CONTROLLER = "controller"
    """Runs slurmctld."""
    LOGIN = "login"
    """Where users work; runs no jobs."""
    COMPUTE = "compute"
    """Runs jobs."""


class SlurmTopology(StrEnum):
    """Where HyperPod learns which group does what; one way for a whole cluster.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    """

    API_DRIVEN = "api"
    """From ``SlurmConfig`` of each instance group: recommended, and a one-way street."""
    LEGACY = "legacy"
    """From ``provisioning_parameters.json`` in the folder of the scripts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeGroup:
    """An instance group, as its nodes need to know it.

    Attributes:
        name: Name of the instance group, exactly as HyperPod knows it.
        role: What its nodes are for.
        instance_types: The instance types it may get; their device counts come from the catalogue.
    """

    name: str
    role: GroupRole
    instance_types: Sequence[str | InstanceType]


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeLustre:
    """A file system that the nodes mount, unless HyperPod has mounted it already.

    Attributes:
        dns_name: DNS name of the file system.
        mount_name: Its mount name, as ``"fsx"`` or eight random letters.
        mount_path: Where it appears on the nodes.
        efa: Whether it can be reached over EFA. A node that has EFA then tries it, and takes TCP when it cannot.
            Default: False.
    """

    dns_name: str
    mount_name: str
    mount_path: str = "/fsx"
    efa: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeOpenZfs:
    """A file system on FSx for OpenZFS that the nodes mount, unless HyperPod has mounted it already.

    Attributes:
        dns_name: DNS name of the file system.
        mount_path: Where its volume ``/fsx`` appears on the nodes.
    """

    dns_name: str
    mount_path: str = "/home"


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSettings:
    """What the project's own scripts read from ``settings.json``.

    Attributes:
        groups: Every instance group of the cluster.
        cluster_name: Name in the first line of the log.
            Default - the name that the node finds in ``resource_config.json``.
        lustre: The shared file system. Default - none is mounted.
        openzfs: A second one, for homes. Default - none is mounted.
        home: Home directory of the user ``ubuntu``.
            Default - ``<mount_path>/ubuntu`` on OpenZFS, else on Lustre; unchanged without a shared file system.
        setup: What else the scripts set up. Default - the defaults of ``NodeSetup``.
    """

    groups: Sequence[NodeGroup]
    cluster_name: str | None = None
    lustre: NodeLustre | None = None
    openzfs: NodeOpenZfs | None = None
    home: str | None = None
    setup: NodeSetup = field(default_factory=NodeSetup)

    def render(self, *, topology: SlurmTopology, users_file: str | None) -> dict[str, JsonValue]:
        """Return the content of ``settings.json``, which leaves out what there is not.

        Args:
            topology: How the cluster is configured; the scripts name it in their messages.
            users_file: Name of the file of users in the folder, or None when there is none.
        """
        shared, homes = self.lustre or self.openzfs, self.openzfs or self.lustre
        fields: dict[str, JsonValue] = {
            "version": _SETTINGS_VERSION,
            "cluster_name": self.cluster_name,
            "topology": topology.value,
            "groups": {group.name: _render_group(group) for group in self.groups},
            "lustre": render_setting(self.lustre),
            "openzfs": render_setting(self.openzfs),
            "home": self.home or (f"{homes.mount_path}/ubuntu" if homes else None),
            "users_file": users_file,
            **self.setup.render(mount_path=shared.mount_path if shared else None, architectures=self.architectures),
        }
        return {name: value for name, value in fields.items() if value is not None}

    @property
    def architectures(self) -> tuple[str, ...]:
        """Processors of the nodes: of every instance type that is known before deployment."""
        kinds = [find_type(kind) for group in self.groups for kind in group.instance_types]
        return tuple(dict.fromkeys(kind.architecture for kind in kinds if kind))


def find_type(entry: str | InstanceType) -> InstanceType | None:
    """Return the facts of an instance type, or None of one that is a Token.

    Raises:
        ConfigurationError: No such type is known.
    """
    return None if unresolved(entry) else InstanceType.of(entry)


def _render_group(group: NodeGroup) -> dict[str, JsonValue]:
    return {
        "role": GroupRole(group.role).value,
        "instance_types": {
            kind.sagemaker_name: _render_devices(kind) for kind in map(find_type, group.instance_types) if kind
        },
    }


def _render_devices(kind: InstanceType) -> dict[str, JsonValue]:
    neuron = [device.count for device in kind.accelerators if device.kind is AcceleratorKind.NEURON]
    return {"efa_interfaces": kind.max_efa_interfaces, "neuron_devices": sum(neuron), "gpus": kind.gpus}
