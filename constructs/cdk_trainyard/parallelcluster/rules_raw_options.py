"""Whether raw keys go where no option is: what has one is said with it, so that its rules are asked. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Final

from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.merge import conflicts, value_at
from cdk_trainyard.parallelcluster.render import CAPACITY
from cdk_trainyard.parallelcluster.rules_config import RAW, Level, levels
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem, option, shown
from cdk_trainyard.tokens import unresolved

_FIXED: Final = (("Imds", "ImdsSupport"), ("Region",), ("Scheduling", "Scheduler"))
"""Keys of a cluster that are always the same: IMDSv2 alone, the stack's Region, Slurm."""
_LOCAL: Final = {
    "LocalStorage.RootVolume.Size": "root_volume",
    "LocalStorage.RootVolume.VolumeType": "root_volume",
    "LocalStorage.RootVolume.Iops": "root_volume",
    "LocalStorage.RootVolume.Throughput": "root_volume",
    "LocalStorage.EphemeralVolume.MountDir": "scratch_at",
}
_SOFTWARE: Final = {
    "CustomActions.OnNodeStart": "on_start",
    "CustomActions.OnNodeConfigured": "on_configured",
    "Iam.AdditionalIamPolicies": "policies",
    "Image.CustomAmi": "image_id",
}
_LOGIN: Final = {**_SOFTWARE, "CustomActions.OnNodeUpdated": "on_updated", "Dcv": "dcv", "Ssh.AllowedIps": "ssh_from"}
_BOTH: Final = {
    "CapacityReservationTarget.CapacityReservationId": "reservation_id",
    "CapacityReservationTarget.CapacityReservationResourceGroupArn": "reservation_group_arn",
    "HealthChecks.Gpu.Enabled": "gpu_health_check",
    "CustomSlurmSettings": "slurm",
    "Tags": "tags",
}
_OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "cluster": {
        "HeadNode": "head_node",
        "DevSettings.Timeouts.ComputeNodeBootstrapTimeout": "timeouts.compute_node",
        "DevSettings.Timeouts.HeadNodeBootstrapTimeout": "timeouts.head_node",
        "Image.CustomAmi": "image_id",
        "Image.Os": "operating_system",
        "Monitoring.Alarms.Enabled": "monitoring.alarms",
        "Monitoring.Dashboards.CloudWatch.Enabled": "monitoring.dashboard",
        "Monitoring.DetailedMonitoring": "monitoring.detailed",
        "Monitoring.Logs.CloudWatch.DeletionPolicy": "monitoring.keep_logs",
        "Monitoring.Logs.CloudWatch.Enabled": "monitoring.logs",
        "Monitoring.Logs.CloudWatch.RetentionInDays": "monitoring.log_retention_days",
        "Scheduling.ScalingStrategy": "slurm.scaling",
        "Scheduling.SlurmSettings.EnableMemoryBasedScheduling": "slurm.memory_scheduling",
        "Scheduling.SlurmSettings.Database": "slurm.accounting",
        "Scheduling.SlurmSettings.CustomSlurmSettings": "slurm.custom",
        "Scheduling.SlurmSettings.Dns.DisableManagedDns": "slurm.managed_dns",
        "Scheduling.SlurmSettings.Dns.UseEc2Hostnames": "slurm.managed_dns",
        "Scheduling.SlurmSettings.QueueUpdateStrategy": "slurm.update_strategy",
        "Scheduling.SlurmSettings.ScaledownIdletime": "slurm.idle_time",
        "Iam.PermissionsBoundary": "iam.permissions_boundary",
        "Iam.ResourcePrefix": "iam.resource_prefix",
        "Iam.Roles.LambdaFunctionsRole": "iam.lambda_role",
        "Tags": "tags",
    },
    "head node": {
        **_LOGIN,
        **_LOCAL,
        "DisableSimultaneousMultithreading": "threads_per_core",
        "InstanceType": "instance_type",
        "Networking.ElasticIp": "elastic_ip",
        "Ssh.KeyName": "key_pair",
    },
    "login pool": {
        **_LOGIN,
        "Count": "count",
        "GracetimePeriod": "grace_period",
        "InstanceType": "instance_type",
        "Name": "name",
        "Networking.SubnetIds": "subnet",
    },
    "queue": {
        **_SOFTWARE,
        **_BOTH,
        **{f"ComputeSettings.{path}": name for path, name in _LOCAL.items()},
        "AllocationStrategy": "allocation",
        "CapacityType": "capacity",
        "JobExclusiveAllocation": "exclusive",
        "Name": "name",
        "Networking.SubnetIds": "subnets",
        "Networking.AssignPublicIp": "public_ip",
        "Networking.PlacementGroup.Enabled": "placement",
    },
    "compute resource": {
        **_BOTH,
        "InstanceType": "instance_type",
        "Instances": "instance_types",
        "MaxCount": "max_count",
        "MinCount": "min_count",
        "Name": "name",
        "SpotPrice": "spot_price",
        "Efa.Enabled": "efa",
        "DisableSimultaneousMultithreading": "threads_per_core",
        "SchedulableMemory": "schedulable_memory_mib",
        "Networking.PlacementGroup.Enabled": "placement",
        "StaticNodePriority": "static_node_priority",
        "DynamicNodePriority": "dynamic_node_priority",
    },
}
"""What may have raw keys: the paths of ParallelCluster that have an option there, whether it was said or not."""
_NEVER: Final = (("Scheduling.SlurmSettings.ScaledownIdletime", -1),)
"""Values of such keys that no option can say: idle nodes never go."""
_KINDS: Final[Mapping[At, str]] = {(): "cluster", ("HeadNode",): "head node"}
_WORDS: Final[Mapping[str, Mapping[str, object]]] = {
    "CapacityType": {theirs: str(ours) for ours, theirs in CAPACITY.items()},
    "DisableSimultaneousMultithreading": {"TRUE": 1, "FALSE": 2},
    "Monitoring.Logs.CloudWatch.DeletionPolicy": {"RETAIN": True, "DELETE": False},
    "Scheduling.SlurmSettings.Dns.DisableManagedDns": {"TRUE": False, "FALSE": True},
    "Scheduling.SlurmSettings.Dns.UseEc2Hostnames": {"TRUE": False, "FALSE": True},
}
"""Values of such keys, in capitals, and what the option has for each where that is another word."""

_FOLLOWING: Final = frozenset(("efa", "elastic_ip", "exclusive", "min_count", "name", "placement", "ssh_from"))
"""Options that follow from others where they are not said (``resolve``), so that nobody knows whether they were."""


def option_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Iterator[Problem]:
    """Raw keys are for what has no option, and contradict none."""
    for level in levels(spec, context):
        at, options = (*level.at, RAW), _OPTIONS[_kind(level.config)]
        answered = [*conflicts(level.rendered, level.raw)]
        for path in answered:
            yield Problem((*at, *path), _conflict(level, path, options), of_key=True)
        for path in level.lists:
            if value_at(level.raw, ".".join(map(str, path))) is not None:
                yield Problem((*at, *path), "is what the cluster has options for; use them", of_key=True)
        for key, name in options.items():
            place, value = tuple(key.split(".")), value_at(level.raw, key)
            is_new = not any(place[: len(one)] == one or one[: len(place)] == place for one in answered)
            if value is not None and (key, value) not in _NEVER and is_new:
                yield Problem((*at, *place), _use(name, key, value, len(place)), of_key=True)


def _conflict(level: Level, path: At, options: Mapping[str, str]) -> str:
    """Say what to do about a key of which the cluster has something already, whether the user said that or not."""
    if path in _FIXED:
        return "is said already; leave it out, as no option changes it"
    around = (".".join(map(str, path[:length])) for length in range(len(path), 0, -1))
    key = next((each for each in around if each in options), None)
    if key is None:
        return "is said already; leave it out, or use the option that says it"
    if _is_said(level.said, options[key]):
        return f"is said already with {option(options[key], up=len(path) + 1)}; leave it out"
    return _use(options[key], key, value_at(level.raw, key), len(path))


def _use(name: str, key: str, value: Any, steps: int) -> str:
    """Say with which option to say a value."""
    ours = _WORDS.get(key, {}).get(str(value).upper())
    word = "" if ours is None else f", {ours if isinstance(ours, str) else shown(ours)}"
    more = ", and its 'raw_overrides' for what has none" if key == "HeadNode" else ""
    return f"has an option: use {option(name, up=steps + 1)}{word}{more}"


def _is_said(section: Any, name: str) -> bool:
    """Say whether something certainly had an option given to it: it has another value than counts without."""
    *around, last = name.split(".")
    for each in around:
        section = getattr(section, each)
    if unresolved(section):
        return False
    default = next(field.default for field in fields(section) if field.name == last)
    return last not in _FOLLOWING and bool(getattr(section, last) != default)


def _kind(config: At) -> str:
    if config in _KINDS:
        return _KINDS[config]
    if config[0] == "LoginNodes":
        return "login pool"
    return "compute resource" if "ComputeResources" in config else "queue"
