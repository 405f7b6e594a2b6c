"""Says of constructs which line of the deployment file asked for them, and which of the library made them.

A construct, and a property of its resource, have the line of the key that says it; what the file leaves out has the
line of the section that lacks it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from string import digits
from typing import Any, Final

from aws_cdk import Stack
from constructs import IConstruct

from cdk_trainyard.deployment.model import Deployment
from cdk_trainyard.hyperpod.rules_overrides import group_shape
from cdk_trainyard.hyperpod.spec_groups import InstanceGroup
from cdk_trainyard.origin import MADE, ORIGIN, PROPERTIES, WRITTEN
from cdk_trainyard.problems import At

_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "Accounting": ("cluster.slurm.accounting", "cluster.accounting"),
    "AlertRules": ("monitoring.alarms",),
    "Alerts": ("alerts",),
    "Buckets": ("storage.buckets",),
    "Buckets/AccessLogs": ("storage.buckets.access_logs",),
    "Cluster/Accounting": ("cluster.slurm.accounting",),
    "Compilation": ("serving.compile",),
    "Dashboards": ("monitoring.dashboards", "monitoring"),
    "Door": ("serving.load_balancer",),
    "Door/AccessLogs": ("serving.load_balancer.access_logs",),
    "Environment": ("monitoring",),
    "Fleet/Ends": ("cluster.ends",),
    "Fleet/Logs": ("cluster.log_retention_days",),
    "Fleet/PlacementGroup": ("cluster.placement",),
    "Fleet/Starts": ("cluster.starts",),
    "Grafana": ("monitoring.grafana",),
    "Images": ("cluster.image",),
    "LifecycleScriptsUploader": ("cluster.lifecycle.folder", "cluster.scripts.folder"),
    "Lustre": ("storage.lustre",),
    "Lustre/Logs": ("storage.lustre.log_retention_days", "storage.lustre.log_level"),
    "Master": ("cluster.master",),
    "Metrics": ("monitoring",),
    "Monitoring": ("serving.monitoring",),
    "Monitoring/Errors": ("serving.monitoring.error_percent",),
    "Monitoring/Latency": ("serving.monitoring.latency_seconds",),
    "Monitoring/Waiting": ("serving.monitoring.waiting",),
    "Network/Accelerator": ("network.accelerator_cidr", "network.zone"),
    "Network/DefaultSecurityGroup": ("network.restrict_default_security_group",),
    "Network/Endpoints": ("network.interface_endpoints",),
    "Network/FlowLogs": ("network.flow_logs_key_arn", "network.flow_logs_retention_days"),
    "Network/Public": ("network.public_zones", "network.zone"),
    "Network/Service": ("network.service_zones",),
    "NodeHealth": ("serving.node_health",),
    "Service/Hosts": ("serving.hosts",),
    "Service/Logs": ("serving.log_key_arn", "serving.log_retention_days"),
    "Service/Task": ("serving.engine", "serving.model"),
    "WebAcl": ("serving.load_balancer.web_acl",),
}
"""Path of a construct below its stack to the keys that ask for it: the first that the file has. The constructs inside
have the same, and those that are not here their stack's section."""
_LISTED: Final = "*"
_BY_NAME: Final = "@"
_GROUP: Final = "cluster.groups.@"
_QUEUE: Final = "cluster.queues.*"
_QUEUES: Final = "ClusterConfiguration.Scheduling.SlurmQueues.{}"


def _of_groups() -> dict[str, str]:
    """Return the properties of instance groups that have an option's own name, each with its key."""
    known = group_shape()["properties"]
    names = {each.name.title().replace("_", ""): each.name for each in fields(InstanceGroup)}
    return {f"InstanceGroups.{{}}.{name}": f"{_GROUP}.{key}" for name, key in names.items() if name in known}


_PROPERTIES: Final[Mapping[str, Mapping[str, str]]] = {
    "Cluster": {
        "ClusterName": "cluster.cluster_name",
        "InstanceGroups.{}": _GROUP,
        **_of_groups(),
        "InstanceGroups.{}.AutoPatchConfig": f"{_GROUP}.auto_patch",
        "InstanceGroups.{}.CapacityRequirements": f"{_GROUP}.capacity",
        "InstanceGroups.{}.InstanceCount": f"{_GROUP}.count",
        "InstanceGroups.{}.InstanceRequirements": f"{_GROUP}.instance_types",
        "InstanceGroups.{}.InstanceStorageConfigs": f"{_GROUP}.volumes",
        "InstanceGroups.{}.LifeCycleConfig": f"{_GROUP}.lifecycle",
        "InstanceGroups.{}.MinInstanceCount": f"{_GROUP}.min_count",
        "InstanceGroups.{}.NetworkInterface": f"{_GROUP}.interface_type",
        "InstanceGroups.{}.OnStartDeepHealthChecks": f"{_GROUP}.deep_health_checks",
        "InstanceGroups.{}.ScheduledUpdateConfig": f"{_GROUP}.scheduled_update",
        "InstanceGroups.{}.SlurmConfig": f"{_GROUP}.partition",
        "NodeProvisioningMode": "cluster.provisioning",
        "NodeRecovery": "cluster.node_recovery",
        "Orchestrator": "cluster.topology",
        "ClusterConfiguration.HeadNode": "cluster.head_node",
        "ClusterConfiguration.Iam": "cluster.iam",
        "ClusterConfiguration.Image": "cluster.operating_system",
        "ClusterConfiguration.LoginNodes.Pools.{}": "cluster.login_pools.*",
        "ClusterConfiguration.Monitoring": "cluster.monitoring",
        "ClusterConfiguration.Scheduling.SlurmSettings": "cluster.slurm",
        _QUEUES: _QUEUE,
        _QUEUES + ".ComputeResources.{}": f"{_QUEUE}.compute.*",
        _QUEUES + ".ComputeResources.{}.MaxCount": f"{_QUEUE}.compute.*.max_count",
        _QUEUES + ".ComputeResources.{}.MinCount": f"{_QUEUE}.compute.*.min_count",
    },
    "Fleet": {
        "DesiredCapacity": "cluster.count",
        "MaxSize": "cluster.max_count",
        "MinSize": "cluster.min_count",
        "MixedInstancesPolicy": "cluster.instance_types",
    },
    "Fleet/Template": {
        "LaunchTemplateData.BlockDeviceMappings": "cluster.volume_gib",
        "LaunchTemplateData.CapacityReservationSpecification": "cluster.reservation_id",
        "LaunchTemplateData.ImageId": "cluster.image",
        "LaunchTemplateData.InstanceMarketOptions": "cluster.capacity",
        "LaunchTemplateData.InstanceType": "cluster.instance_type",
        "LaunchTemplateData.KeyName": "cluster.key_pair",
        "LaunchTemplateData.NetworkInterfaces": "cluster.interfaces",
    },
    "Lustre": {
        "LustreConfiguration": "storage.lustre",
        "LustreConfiguration.PerUnitStorageThroughput": "storage.lustre.throughput_mb_s_per_tib",
        "StorageCapacity": "storage.lustre.capacity_gib",
    },
    "Master": {"ImageId": "cluster.master.image", "InstanceType": "cluster.master.instance_type"},
}
"""Path of a construct to the properties of its resource, each with the key that says it. A star stands for each item
of a list, an at sign for each by its name, and braces for its number.
Of several constructs of one kind (``Template0``), the path is without the number."""
_STACKS: Final = {
    "NetworkStack": "network",
    "StorageStack": "storage",
    "TrainingStack": "cluster",
    "ServingStack": "serving",
}
"""Stack to its section."""
_LIBRARY: Final = "cdk_trainyard."


def say_origins(app: IConstruct, deployment: Deployment) -> None:
    """Add metadata to the stacks of a deployment, to the constructs of this library in them, and to those of `_KEYS`.

    Args:
        app: The app.
        deployment: What its stacks were made from.
    """
    for stack in app.node.children:
        if isinstance(stack, Stack):
            name = stack.node.id
            _say(stack, deployment.locate(*asked_by(name, deployment)))
            for below, construct in {**dict(_of_library(stack)), **dict(_named(stack))}.items():
                place = deployment.locate(*asked_by(f"{name}/{below}", deployment))
                said = _properties(deployment, below).items()
                _say(construct, place, {name: each for name, each in said if each != place})


def asked_by(construct: str, deployment: Deployment) -> tuple[str, ...]:
    """Return the path of the key that asks for a construct: the first that the file has; without any, the first.

    Args:
        construct: Its path in the app, with its stack; of another stack than a deployment's, the answer is the file.
        deployment: The deployment.
    """
    stack, _, below = construct.partition("/")
    if stack not in _STACKS:
        return ()
    paths = [tuple(each.split(".")) for each in _keys(below) or (_STACKS[stack],)]
    return next(filter(deployment.says, paths), paths[0])


def _of_library(construct: IConstruct, above: str = "") -> Iterator[tuple[str, IConstruct]]:
    """Yield the constructs of this library that stand in one another in a construct, each with its path there."""
    for child in construct.node.children:
        if _is_of_library(child):
            yield f"{above}{child.node.id}", child
            yield from _of_library(child, f"{above}{child.node.id}/")


def _named(stack: IConstruct) -> Iterator[tuple[str, IConstruct]]:
    """Yield the constructs of `_KEYS` that a stack has."""
    for below in _KEYS:
        construct: IConstruct | None = stack
        for name in below.split("/"):
            construct = construct.node.try_find_child(name) if construct is not None else None
        if construct is not None:
            yield below, construct


def _keys(below: str) -> tuple[str, ...]:
    """Return the keys that ask for a construct, or for the nearest one around it that has any."""
    while below and below not in _KEYS:
        below = below.rpartition("/")[0]
    return _KEYS.get(below, ())


def _is_of_library(construct: IConstruct) -> bool:
    return type(construct).__module__.startswith(_LIBRARY)


def _properties(deployment: Deployment, below: str) -> dict[str, str]:
    """Return the properties of a construct's resource, each with its place in the file."""
    return {
        pattern.format(*numbers): deployment.locate(*at)
        for pattern, keys in _PROPERTIES.get(below.rstrip(digits), {}).items()
        for at, numbers in _each(deployment, keys.split("."))
    }


def _each(of: Any, keys: Sequence[str]) -> Iterator[tuple[At, tuple[int, ...]]]:
    """Yield the paths that keys with stars stand for, as far as a deployment has such things, with their numbers."""
    if not keys:
        yield (), ()
    elif keys[0] in {_LISTED, _BY_NAME}:
        for index, inner in enumerate(of or ()):
            part = inner.name if keys[0] == _BY_NAME else index
            yield from (((part, *at), (index, *numbers)) for at, numbers in _each(inner, keys[1:]))
    else:
        yield from (((keys[0], *at), numbers) for at, numbers in _each(getattr(of, keys[0], None), keys[1:]))


def _say(construct: IConstruct, place: str, properties: Mapping[str, str] | None = None) -> None:
    said: dict[str, Any] = {WRITTEN: place}
    if _is_of_library(construct) or isinstance(construct, Stack):
        kind = type(construct)
        said[MADE] = f"{kind.__module__}:{kind.__init__.__code__.co_firstlineno}"
    construct.node.add_metadata(ORIGIN, said | ({PROPERTIES: properties} if properties else {}))
