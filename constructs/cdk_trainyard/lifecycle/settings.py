"""What the node scripts are told: the typed form of ``settings.json``.

The scripts hold no configuration of their own and are never edited per cluster; what differs between clusters is
rendered from these values and travels in the same content-hashed folder as the scripts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.instances.kind import InstanceTypeName
from cdk_trainyard.json_value import JsonValue
from cdk_trainyard.lifecycle.render import render_setting, render_setup
from cdk_trainyard.lifecycle.spec import GroupRole, NodeSetup, SlurmTopology
from cdk_trainyard.options.kinds import Text
from cdk_trainyard.options.node_paths import ON_HYPERPOD
from cdk_trainyard.tokens import unresolved

SETTINGS_FILE = "settings.json"
"""Name of the rendered settings in the folder that nodes download."""
LEGACY_FILE = "provisioning_parameters.json"
"""Name that HyperPod's agent gives the legacy topology file: it is read literally, and cannot be another."""
USERS_FILE = "shared_users.txt"
"""Name of the file of users and groups, as in AWS's own scripts."""

_SETTINGS_VERSION = 1  # of the shape of settings.json: the scripts refuse one that they do not know
_Word = Annotated[str, Text(pattern=r"[\x21-\x7e]+", words="a word without blanks", example="worker-group")]


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeGroup:
    """An instance group, as its nodes need to know it."""

    name: _Word
    """Name of the instance group, exactly as HyperPod knows it."""
    role: GroupRole
    """What its nodes are for."""
    instance_types: Sequence[Annotated[str | InstanceType, InstanceTypeName("ml.trn1.32xlarge")]]
    """The instance types it may get; their device counts come from the catalogue."""
    runs_scripts: bool = True
    """Whether its nodes run these scripts, and no others. Default: true."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeLustre:
    """A file system that the nodes mount, unless HyperPod has mounted it already."""

    dns_name: _Word
    """DNS name of the file system."""
    mount_name: _Word
    """Its mount name, as ``"fsx"`` or eight random letters."""
    mount_path: Annotated[str, ON_HYPERPOD] = "/fsx"
    """Where it appears on the nodes. Default: /fsx."""
    efa: bool = False
    """Whether it can be reached over EFA. A node that has EFA then tries it, and takes TCP when it cannot.
    Default: false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeOpenZfs:
    """A file system on FSx for OpenZFS that the nodes mount, unless HyperPod has mounted it already."""

    dns_name: _Word
    """DNS name of the file system."""
    mount_path: Annotated[str, ON_HYPERPOD] = "/home"
    """Where its volume ``/fsx`` appears on the nodes. Default: /home."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeSettings:
    """What the project's own scripts read from ``settings.json``."""

    groups: Sequence[NodeGroup]
    """Every instance group of the cluster."""
    cluster_name: _Word | None = None
    """Name in the first line of the log. Default - the name that the node finds in ``resource_config.json``."""
    lustre: NodeLustre | None = None
    """The shared file system. Default - none is mounted."""
    openzfs: NodeOpenZfs | None = None
    """A second one, for homes. Default - none is mounted."""
    home: Annotated[str | None, ON_HYPERPOD] = None
    """Home directory of the user ``ubuntu``. Default - ``<mount_path>/ubuntu`` on OpenZFS, else on Lustre; unchanged
    without a shared file system."""
    setup: NodeSetup = NodeSetup()  # noqa: RUF009  a frozen value
    """What else the scripts set up. Default - the defaults of ``NodeSetup``."""

    def render(
        self, *, topology: SlurmTopology, users_file: str | None, bucket: str | None = None
    ) -> dict[str, JsonValue]:
        """Return the content of ``settings.json``, which leaves out what there is not.

        Args:
            topology: How the cluster is configured; the scripts name it in their messages.
            users_file: Name of the file of users in the folder, or None when there is none.
            bucket: Name of the bucket of the scripts. Default - not known; tools say theirs.
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
            **render_setup(
                self.setup,
                mount_path=shared.mount_path if shared else None,
                architectures=self.architectures,
                bucket=bucket,
            ),
        }
        return {name: value for name, value in fields.items() if value is not None}

    @property
    def architectures(self) -> tuple[str, ...]:
        """Processors of the nodes: of every instance type that is known before deployment."""
        return tuple(dict.fromkeys(kind.architecture for group in self.groups for kind in known_types(group)))


def known_types(group: NodeGroup) -> list[InstanceType]:
    """Return the facts of the instance types of a group, as far as they are known."""
    names = [name for name in group.instance_types if not unresolved(name)]
    return [kind for kind in map(InstanceType.find, names) if kind]


def _render_group(group: NodeGroup) -> dict[str, JsonValue]:
    return {
        "role": GroupRole(group.role).value,
        "instance_types": {kind.sagemaker_name: _render_devices(kind) for kind in known_types(group)},
    }


def _render_devices(kind: InstanceType) -> dict[str, JsonValue]:
    neuron = [device.count for device in kind.accelerators if device.kind is AcceleratorKind.NEURON]
    return {"efa_interfaces": kind.max_efa_interfaces, "neuron_devices": sum(neuron), "gpus": kind.gpus}
