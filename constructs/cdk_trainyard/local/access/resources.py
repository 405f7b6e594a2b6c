"""The resources that a call is about, as the ARNs that policies name.

Which parameter holds the name of what stands in a table by type of resource: a type that no table knows is an error.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from moto.autoscaling.models import autoscaling_backends
from moto.secretsmanager.models import secretsmanager_backends

from cdk_trainyard.local.access.actions import arn_of, path_of, types_of
from cdk_trainyard.local.access.call import Call
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.strings import strings

_EC2_TYPES = {
    "acl": "network-acl",
    "ami": "image",
    "cr": "capacity-reservation",
    "eipalloc": "elastic-ip",
    "eni": "network-interface",
    "i": "instance",
    "igw": "internet-gateway",
    "key": "key-pair",
    "lt": "launch-template",
    "nat": "natgateway",
    "pg": "placement-group",
    "rtb": "route-table",
    "sg": "security-group",
    "sgr": "security-group-rule",
    "snap": "snapshot",
    "subnet": "subnet",
    "vol": "volume",
    "vpc": "vpc",
    "vpce": "vpc-endpoint",
}
"""EC2's types by the prefix of their ids (EC2 User Guide, "Resource IDs")."""
_EC2_ID = re.compile(r"([a-z]+)-[0-9a-f]{8,17}")
_VARIABLE = re.compile(r"\$\{[A-Za-z]+\}")
_NO_LOG_STREAM = "log-group:{}:log-stream:"


def resources_of(call: Call, action: str) -> list[str]:
    """Return the ARNs that ``action`` must be allowed on for ``call``; ``*`` when it knows no resource.

    Raises:
        ApiError: No table says which parameter holds a resource of one of the action's types.
    """
    service = action.partition(":")[0]
    types = types_of(action)
    if service == "ec2":
        return list(_of_ec2(call, types)) or ["*"]
    if service == "apigateway":
        return [f"arn:{call.partition}:apigateway:{call.region}::{path_of(call)}"]
    found: list[str] = []
    for kind in types:
        finder = _FINDERS.get(f"{service}:{kind}")
        if finder is None:
            raise ApiError(
                "NotImplemented", f"local AWS: which parameter of {action} names a {kind} is not known to it"
            )
        found += [name if name.startswith("arn:") else arn(call, service, kind, name) for name in finder(call) if name]
    return list(dict.fromkeys(found)) or ["*"]


def arn(call: Call, service: str, kind: str, name: str) -> str:
    """Return the ARN of a resource that has a name."""
    form = arn_of(service, kind)
    for variable, value in {"Partition": call.partition, "Region": call.region, "Account": call.account}.items():
        form = form.replace(f"${{{variable}}}", value)
    return _VARIABLE.sub(lambda _: name, form, count=1)


def _of_ec2(call: Call, types: Mapping[str, bool]) -> Iterator[str]:
    """Yield every thing whose id stands in the parameters, and ``type/*`` of a needed type, as of what is made."""
    seen = set()
    for value in strings(call.parameters):
        found = _EC2_ID.fullmatch(value)
        kind = _EC2_TYPES.get(found[1]) if found else None
        if kind in types and kind is not None:
            seen.add(kind)
            yield arn(call, "ec2", kind, value)
    for kind, is_needed in types.items():
        if is_needed and kind not in seen:
            yield arn(call, "ec2", kind, "*")


Finder = Callable[[Call], list[str]]


def _named(*names: str) -> Finder:
    """Find names, or ARNs, in parameters; a parameter may be a list."""

    def find(call: Call) -> list[str]:
        values = (call.get(name) for name in names)
        return [item for value in values if value for item in (value if isinstance(value, list) else [value])]

    return find


def _source(kind: str) -> Finder:
    """Find whose policies are simulated, if it is of a kind."""

    def find(call: Call) -> list[str]:
        return [source for source in _named("PolicySourceArn")(call) if f":{kind}/" in source]

    return find


def _nothing(_call: Call) -> list[str]:
    """Find none: a kind of resource that nothing here uses."""
    return []


def _objects(call: Call) -> list[str]:
    """Find the objects of S3: one, or those that are to be deleted."""
    keys = (
        [call.get("Key")] if call.get("Key") else [row["Key"] for row in (call.get("Delete") or {}).get("Objects", [])]
    )
    return [f"arn:{call.partition}:s3:::{call.get('Bucket')}/{key}" for key in keys]


def _log_groups(call: Call) -> list[str]:
    """Find log groups, as CloudWatch Logs asks for them: with all that is in them ("… log-group:NAME:*")."""
    named = _named("logGroupName", "logGroupNames", "logGroupIdentifier", "logGroupIdentifiers")(call)
    names = [name.removesuffix(":*").partition(":log-group:")[2] or name for name in named]
    return [f"arn:{call.partition}:logs:{call.region}:{call.account}:{_NO_LOG_STREAM.format(name)}" for name in names]


def _log_streams(call: Call) -> list[str]:
    streams = _named("logStreamName")(call) or [""]
    return [group + stream for group in _log_groups(call) for stream in streams]


def _secrets(call: Call) -> list[str]:
    """Find secrets by name or ARN: policies name them with the suffix that Secrets Manager gave them."""
    backend = secretsmanager_backends[call.account][call.region]
    found = []
    for name in _named("SecretId")(call):
        known = name in backend.secrets
        found.append(backend.secrets.get(name).arn if known else name)  # type: ignore[union-attr]  # it is in there
    return found


def _parameters(call: Call) -> list[str]:
    names = _named("Name", "Names", "Path")(call)
    return [name if name.startswith("arn:") else name.lstrip("/") for name in names]


def _groups(call: Call) -> list[str]:
    """Find Auto Scaling groups: by name, or by an instance in them."""
    backend = autoscaling_backends[call.account][call.region]
    names, instance = _named("AutoScalingGroupName")(call), call.get("InstanceId")
    return [
        group.arn
        for group in backend.autoscaling_groups.values()
        if group.name in names or (not names and any(state.instance.id == instance for state in group.instance_states))
    ] or [arn(call, "autoscaling", "autoScalingGroup", "*").replace("${GroupFriendlyName}", name) for name in names]


def _repositories(call: Call) -> list[str]:
    """Find repositories: of this account, or of the one whose registry is named."""
    owner = call.get("registryId") or call.account
    names = _named("repositoryName", "repositoryNames")(call)
    return [f"arn:{call.partition}:ecr:{call.region}:{owner}:repository/{name}" for name in names]


def _keys(call: Call) -> list[str]:
    """Find KMS keys by id or ARN; an alias is for its key."""
    from moto.kms.models import kms_backends  # noqa: PLC0415  takes long, and few ask

    backend = kms_backends[call.account][call.region]
    return [backend.get_key_id(name) for name in _named("KeyId", "TargetKeyId")(call)]


def _buses(call: Call) -> list[str]:
    """Find event buses: of the operation, or of each event that is put; without a name it is the default one."""
    named = _named("Name" if call.operation.endswith("EventBus") else "EventBusName")(call)
    entries = [entry.get("EventBusName") or "default" for entry in call.get("Entries") or []]
    return [*named, *entries] or ["default"]


def _rules(call: Call) -> list[str]:
    """Find rules: of the default event bus, or of another, whose name stands before theirs."""
    bus = str(call.get("EventBusName") or "default").rpartition("/")[2]
    path = "" if bus == "default" else f"{bus}/"
    form = f"arn:{call.partition}:events:{call.region}:{call.account}:rule/{path}"
    return [form + name for name in _named("Name", "Rule")(call)]


def _streams(call: Call) -> list[str]:
    """Find streams of Kinesis: by name or ARN, or by the iterator of a shard, which holds the name."""
    from moto.kinesis.utils import decompose_shard_iterator  # noqa: PLC0415  few ask

    iterator = call.get("ShardIterator")
    return _named("StreamName", "StreamARN")(call) or (decompose_shard_iterator(iterator)[:1] if iterator else [])


def _job_definitions(*, revisions: bool) -> Finder:
    """Find definitions of jobs: with a revision, or without one."""

    def find(call: Call) -> list[str]:
        form = f"arn:{call.partition}:batch:{call.region}:{call.account}:job-definition/"
        names = [name.removeprefix(form) for name in _named("jobDefinition", "jobDefinitionName")(call)]
        return [form + name for name in names if name.rpartition(":")[2].isdigit() is revisions]

    return find


def _efs(call: Call) -> list[str]:
    """Find file systems: by id, or by a mount target of theirs."""
    from moto.efs.models import efs_backends  # noqa: PLC0415  few ask

    target = call.get("MountTargetId")
    mounts = efs_backends[call.account][call.region].mount_targets_by_id
    return _named("FileSystemId")(call) or ([mounts[target].file_system_id] if target in mounts else [])


_FINDERS: Mapping[str, Finder] = {
    "autoscaling:autoScalingGroup": _groups,
    "autoscaling:launchConfiguration": _named("LaunchConfigurationName"),
    "batch:compute-environment": _named("computeEnvironment", "computeEnvironmentName"),
    "batch:consumable-resource": _nothing,
    "batch:job": _named("jobId"),
    "batch:job-definition": _job_definitions(revisions=False),
    "batch:job-definition-revision": _job_definitions(revisions=True),
    "batch:job-queue": _named("jobQueue", "jobQueueName"),
    "batch:scheduling-policy": _nothing,
    "batch:service-environment": _nothing,
    "acm:certificate": _named("CertificateArn"),
    "cloudformation:stack": _named("StackName"),
    "cloudwatch:alarm": _named("AlarmName", "AlarmNames"),
    "cloudwatch:dashboard": _named("DashboardName"),
    "cloudwatch:dataset": _nothing,
    "dynamodb:index": _nothing,
    "dynamodb:stream": _named("StreamArn"),
    "dynamodb:table": _named("TableName", "ResourceArn"),
    "ecr:repository": _repositories,
    "ecs:cluster": _named("cluster"),
    "ecs:container-instance": _named("containerInstance", "containerInstances"),
    "ecs:task": _named("task", "tasks"),
    "elasticfilesystem:access-point": _named("AccessPointId"),
    "elasticfilesystem:file-system": _efs,
    "events:event-bus": _buses,
    "events:event-busv2": _nothing,
    "events:rule-on-custom-event-bus": _rules,
    "events:rule-on-default-event-bus": _rules,
    "fsx:backup": _named("BackupId", "BackupIds"),
    "fsx:file-system": _named("FileSystemId", "FileSystemIds"),
    "fsx:volume": _named("VolumeId"),
    "fsx:storage-virtual-machine": _named("StorageVirtualMachineId"),
    "iam:group": _source("group"),
    "iam:policy": _named("PolicyArn"),
    "iam:role": lambda call: [*_named("RoleName")(call), *_source("role")(call)],
    "iam:user": _source("user"),
    "kinesis:kmsKey": _nothing,
    "kinesis:stream": _streams,
    "kms:alias": _named("AliasName"),
    "kms:key": _keys,
    "lambda:eventSourceMapping": _named("UUID"),
    "lambda:function": _named("FunctionName"),
    "logs:log-group": _log_groups,
    "logs:log-stream": _log_streams,
    "rds:db": _named("DBInstanceIdentifier"),
    "rds:db-capacity-reservation": _nothing,
    "rds:og": _named("OptionGroupName"),
    "rds:pg": _named("DBParameterGroupName"),
    "rds:secgrp": _named("DBSecurityGroups"),
    "rds:subgrp": _named("DBSubnetGroupName"),
    "s3:accesspoint": _nothing,
    "s3:accesspointobject": _nothing,
    "s3:bucket": lambda call: [f"arn:{call.partition}:s3:::{call.get('Bucket')}"] if call.get("Bucket") else [],
    "s3:object": _objects,
    "sagemaker:cluster": _named("ClusterName"),
    "sagemaker:training-plan": _named("TrainingPlanName", "TrainingPlanArn"),
    "secretsmanager:Secret": _secrets,
    "sns:topic": _named("TopicArn", "TargetArn"),
    "sqs:queue": lambda call: [str(call.get("QueueUrl") or call.get("QueueName") or "").rpartition("/")[2]],
    "ssm:instance": _named("InstanceId", "InstanceIds"),
    "ssm:managed-instance": _nothing,
    "ssm:parameter": _parameters,
    "states:execution": _named("executionArn"),
    "states:statemachine": _named("stateMachineArn"),
    "sts:role": _named("RoleArn"),
    "sts:user": _nothing,
    "sts:root-user": _nothing,
    "sts:self-session": _nothing,
}
