"""What SageMaker refuses of a HyperPod cluster at once, and what makes one fail while it is created.

Bounds, patterns and enumerations are those of botocore's model (``constraints``). What keys exclude and need is said
there too, of ``ClusterInstanceGroupSpecification`` and what it holds. Sentences are AWS's own where it publishes them:
"Common validation errors" of "Getting started with SageMaker HyperPod using the AWS CLI", and "Troubleshooting" of the
page on migrating to API-driven Slurm configuration, both in the SageMaker developer guide; of EFA, the troubleshooting
guide of awslabs/ai-on-sagemaker-hyperpod. Read 2026-11-22. The others are this project's.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError
from moto.ec2.models.instance_types import INSTANCE_TYPES

from cdk_trainyard.local.clients import client
from cdk_trainyard.local.services import network

Group = Mapping[str, Any]
_CONTINUOUS = "Continuous"
_LEGACY_FILE = "provisioning_parameters.json"


def refusals(parameters: Mapping[str, Any]) -> list[str]:
    """Return why the API would not accept a cluster with these parameters."""
    groups: list[Group] = parameters.get("InstanceGroups") or []
    slurm = [group for group in groups if "SlurmConfig" in group]
    return [
        *(problem for group in groups for problem in _group_problems(group, parameters)),
        *_name_problems(groups),
        *_slurm_problems(slurm, parameters),
        *_orchestrator_problems(parameters),
    ]


def _name_problems(groups: Sequence[Group]) -> Iterator[str]:
    names = [group["InstanceGroupName"] for group in groups]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"Instance group name {name} is used more than once."


def _group_problems(group: Group, parameters: Mapping[str, Any]) -> Iterator[str]:
    name = group["InstanceGroupName"]
    if ("InstanceType" in group) == ("InstanceRequirements" in group):
        yield f"Instance group {name}: exactly one of InstanceType and InstanceRequirements must be set."
    smallest = group.get("MinInstanceCount")
    if smallest is not None and smallest > group["InstanceCount"]:
        largest = group["InstanceCount"]
        yield f"Instance group {name}: MinInstanceCount {smallest} is greater than InstanceCount {largest}."
    if smallest is not None and parameters.get("NodeProvisioningMode") != _CONTINUOUS:
        yield f"Instance group {name}: MinInstanceCount needs NodeProvisioningMode Continuous."
    yield from _lifecycle_problems(name, group.get("LifeCycleConfig"))
    yield from _storage_problems(name, group.get("InstanceStorageConfigs") or [], parameters)


def _lifecycle_problems(name: str, config: Mapping[str, Any] | None) -> Iterator[str]:
    if config is None:
        return
    scripts = [key for key in ("OnCreate", "OnInitComplete") if config.get(key)]
    if not config:
        yield f"Instance group {name}: LifeCycleConfig for instance group is provided but contains no configuration."
    elif len(scripts) > 1:
        yield f"Instance group {name}: OnCreate and OnInitComplete in LifeCycleConfig are mutually exclusive."
    elif bool(scripts) != bool(config.get("SourceS3Uri")):
        problem = "LifeCycleConfig for instance group is incomplete"
        yield f"Instance group {name}: {problem}: SourceS3Uri and one of OnCreate and OnInitComplete belong together."


def _storage_problems(name: str, storage: Sequence[Group], parameters: Mapping[str, Any]) -> Iterator[str]:
    for kind in ("FsxLustreConfig", "FsxOpenZfsConfig"):
        found = sum(kind in row for row in storage)
        if found > 1:
            yield f"Instance group {name}: only one {kind} is allowed."
        if found and "VpcConfig" not in parameters:
            yield "FSx configurations are only supported for Custom VPC"
    for row in storage:
        volume = row.get("EbsVolumeConfig", {})
        if volume.get("RootVolume") and "VolumeSizeInGB" in volume:
            yield f"Instance group {name}: VolumeSizeInGB cannot be specified for the root volume."


def _slurm_problems(groups: Sequence[Group], parameters: Mapping[str, Any]) -> Iterator[str]:
    if not groups:
        return
    controllers = [group for group in groups if group["SlurmConfig"]["NodeType"] == "Controller"]
    if len(controllers) > 1:
        yield (
            f"{len(controllers)} Controller Groups found: "
            "SlurmConfig for InstanceGroups may only have one Controller Group."
        )
    if not controllers:
        yield f"Cluster {parameters.get('ClusterName')} has no InstanceGroup with Controller node type."
    for group in groups:
        config = group["SlurmConfig"]
        if config.get("PartitionNames") and config["NodeType"] != "Compute":
            yield "Partitions can only be assigned to Compute node types"


def _orchestrator_problems(parameters: Mapping[str, Any]) -> Iterator[str]:
    orchestrator = parameters.get("Orchestrator")
    if orchestrator is None:
        return
    if len(orchestrator) != 1:
        yield "Orchestrator must have exactly one of Eks and Slurm."
    slurm, continuous = orchestrator.get("Slurm") or {}, parameters.get("NodeProvisioningMode") == _CONTINUOUS
    if continuous and "SlurmConfigStrategy" in slurm:
        yield "SlurmConfigStrategy cannot be specified with NodeProvisioningMode Continuous."
    if "AccountingDatabase" in slurm and not continuous:
        yield "AccountingDatabase needs NodeProvisioningMode Continuous."


def failures(parameters: Mapping[str, Any], region: str) -> list[str]:
    """Return why the nodes of a cluster with these parameters would not come up."""
    groups = [group for group in parameters.get("InstanceGroups") or [] if group["InstanceCount"] > 0]
    found = [message for group in groups for check in _CHECKS for message in check(group, parameters, region)]
    return list(dict.fromkeys(found))


def _script_failures(group: Group, _parameters: Mapping[str, Any], region: str) -> Iterator[str]:
    config = group.get("LifeCycleConfig") or {}
    if "SourceS3Uri" not in config:
        return
    bucket, _, prefix = str(config["SourceS3Uri"]).partition("://")[2].partition("/")
    prefix = f"{prefix.rstrip('/')}/" if prefix else ""
    entry = config.get("OnCreate") or config.get("OnInitComplete")
    if not _exists(region, bucket, f"{prefix}{entry}"):
        yield (
            f"Instance group {group['InstanceGroupName']}: Lifecycle scripts did not run successfully: "
            f"s3://{bucket}/{prefix}{entry} does not exist"
        )
    if "SlurmConfig" in group and _exists(region, bucket, f"{prefix}{_LEGACY_FILE}"):
        yield (
            "The LifeCycleConfig cannot include both a SLURM Orchestrator Config and a "
            f"{_LEGACY_FILE} file simultaneously."
        )


def _exists(region: str, bucket: str, key: str) -> bool:
    try:
        client("s3", region).head_object(Bucket=bucket, Key=key)
    except ClientError:
        return False
    return True


def _efa_failures(group: Group, parameters: Mapping[str, Any], region: str) -> Iterator[str]:
    vpc = group.get("OverrideVpcConfig") or parameters.get("VpcConfig")
    types = [group["InstanceType"]] if "InstanceType" in group else group["InstanceRequirements"]["InstanceTypes"]
    if vpc is None or not any(map(has_efa, types)):
        return
    groups = network.security_groups(region, vpc["SecurityGroupIds"], "ValidationException")
    if not any(map(network.trusts_itself, groups)):
        yield (
            f"Instance group {group['InstanceGroupName']}: EFA health checks did not run successfully. "
            "Ensure that your VPC and security groups are properly configured before attempting to create a new "
            "cluster."
        )


def has_efa(instance_type: str) -> bool:
    """Return whether instances of a type (``ml.trn1.32xlarge``) have EFA interfaces, as far as moto knows."""
    facts: Mapping[str, Any] = INSTANCE_TYPES.get(instance_type.removeprefix("ml."), {})
    return bool(facts.get("NetworkInfo", {}).get("EfaSupported"))


_CHECKS: tuple[Callable[[Group, Mapping[str, Any], str], Iterator[str]], ...] = (_script_failures, _efa_failures)
