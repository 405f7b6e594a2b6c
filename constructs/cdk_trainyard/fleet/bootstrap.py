"""The user data of a node: what differs between nodes, and the few lines that fetch and start the rest.

Nothing secret is in it: whoever may describe the instance can read it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jsii
from aws_cdk import Aws, IStableAnyProducer, Lazy, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_trainyard.fleet.scripts import FleetScripts
from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.json_value import JsonValue
from cdk_trainyard.lifecycle.uploader import HASH_LENGTH
from cdk_trainyard.storage import Lustre, Mount

SETTINGS_VERSION = 1
"""Of the shape of settings.json: the scripts refuse one that they do not know."""

_FETCH_SECONDS = 300
"""How long a node tries to fetch its scripts: routes and permissions of a new stack can be late (IAM is consistent in
the end only), and the AWS CLI gives all files of a folder together one allowance of retries."""

WORKER = "worker"
MASTER = "master"


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeFacts:
    """What a node is told of itself and its fleet.

    Attributes:
        fleet: The fleet's name.
        role: ``worker`` or ``master``.
        types: The instance types of all members.
        user: The user that people and jobs work as.
        key_parameter: The parameter that holds the fleet's SSH key.
        log_group: Where its log goes.
        hook: The hook of the Auto Scaling group that waits for it. None: nobody waits.
        failures: The parameter that counts set-ups that failed in a row. None: nobody replaces it.
        mounts: The shared file system, and where it is mounted; what is added before the end of a synthesis counts.
        metrics: What the steps of metrics ask, by the names that they ask it by. None: no metrics are taken.
    """

    fleet: str
    role: str
    types: tuple[InstanceType, ...]
    user: str
    key_parameter: str
    log_group: str
    hook: str | None
    failures: str | None
    mounts: Sequence[Mount]
    metrics: Mapping[str, JsonValue] | None

    def render(self) -> dict[str, Any]:
        """Return the content of ``settings.json``, which leaves out what there is not."""
        fields: dict[str, Any] = {
            "version": SETTINGS_VERSION,
            "fleet": self.fleet,
            "role": self.role,
            "region": Aws.REGION,
            "user": self.user,
            "key_parameter": self.key_parameter,
            "log_group": self.log_group,
            "hook": self.hook,
            "failures": self.failures,
            "instance_types": {kind.name: _devices(kind) for kind in self.types},
            "lustre": Lazy.any(_FirstMount(self.mounts)),
            "metrics": self.metrics,
        }
        return {name: value for name, value in fields.items() if value is not None}


def user_data(scope: Construct, scripts: FleetScripts, facts: NodeFacts) -> ec2.UserData:
    """Return the user data of a node.

    Args:
        scope: The node's construct.
        scripts: What it fetches.
        facts: What it is told.
    """
    data = ec2.UserData.custom("#!/bin/bash")
    directory = f"/opt/trainyard/scripts/{scripts.content_hash[:HASH_LENGTH]}"
    data.add_commands(
        "set -Eeuo pipefail",
        f"export AWS_DEFAULT_REGION={Aws.REGION} AWS_RETRY_MODE=standard AWS_MAX_ATTEMPTS=10",
        "mkdir -p /etc/trainyard",
        "cat >/etc/trainyard/settings.json <<'END_OF_SETTINGS'",
        Stack.of(scope).to_json_string(facts.render()),
        "END_OF_SETTINGS",
        f"until aws s3 cp --recursive --only-show-errors {scripts.s3_uri} {directory}/; do",
        f"  ((SECONDS < {_FETCH_SECONDS})) || exit 1",
        "  sleep 5",
        "done",
        f"chmod -R u=rwX,go=rX {directory} && chmod a+x {directory}/*.sh",
        f"exec {directory}/boot.sh",
    )
    return data


@jsii.implements(IStableAnyProducer)
class _FirstMount:
    """The file system among the mounts when the template is written. None: there is none, and its key is left out."""

    def __init__(self, mounts: Sequence[Mount]) -> None:
        self._mounts = mounts

    def produce(self) -> dict[str, JsonValue] | None:
        """Return where it is mounted."""
        return next(map(_mounted, self._mounts), None)


def _mounted(mount: Mount) -> dict[str, JsonValue] | None:
    lustre = mount.file_system
    if not isinstance(lustre, Lustre):
        return None
    return {"dns_name": lustre.dns_name, "mount_name": lustre.mount_name, "mount_path": mount.path}


def _devices(kind: InstanceType) -> dict[str, JsonValue]:
    neuron = [part.count for part in kind.accelerators if part.kind is AcceleratorKind.NEURON]
    return {
        "efa_interfaces": kind.max_efa_interfaces if kind.efa_supported else 0,
        "neuron_devices": sum(neuron),
        "neuron_cores": kind.neuron_cores,
        "gpus": kind.gpus,
        "cores": kind.vcpus // kind.threads_per_core,
    }
