"""The roles and instance profiles that ParallelCluster makes for its nodes: one of the head node, one of each queue.

Names and statements are those of ``cli/src/pcluster/templates/cdk_builder_utils.py`` (aws/aws-parallelcluster), without
what the head node may do with ParallelCluster's own bucket and table; pools of login nodes have what queues have.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha1
from typing import Any

HEAD = "HeadNode"
_TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}
_LOGS_POLICY = "arn:${AWS::Partition}:iam::aws:policy/CloudWatchAgentServerPolicy"
_OWN_BUCKET = "arn:${AWS::Partition}:s3:::${AWS::Region}-aws-parallelcluster/*"
_LICENSE = "arn:${AWS::Partition}:s3:::dcv-license.${AWS::Region}/*"
_STACKS = "arn:${AWS::Partition}:cloudformation:${AWS::Region}:${AWS::AccountId}:stack/${AWS::StackName}"
_ROLES = "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/parallelcluster/${AWS::StackName}/*"
Config = Mapping[str, Any]
Statement = dict[str, Any]


def profile_id(owner: str) -> str:
    """Return the logical id of the instance profile of the head node, of a queue or of a pool."""
    return f"InstanceProfile{_suffix(owner)}"


def profile_of(owner: str, section: Config) -> Any:
    """Return the name of the instance profile of nodes: ParallelCluster's own, or the one that the file names."""
    given = (section.get("Iam") or {}).get("InstanceProfile")
    return given.rpartition("/")[2] if given else {"Ref": profile_id(owner)}


def entitled(config: Config) -> dict[str, Config]:
    """Return what has a role of its own: the head node, every queue and every pool of login nodes, by name."""
    queues = (config.get("Scheduling") or {}).get("SlurmQueues") or ()
    pools = (config.get("LoginNodes") or {}).get("Pools") or ()
    return {HEAD: config[HEAD]} | {section["Name"]: section for section in (*queues, *pools)}


def roles(config: Config) -> dict[str, Any]:
    """Return the resources of all roles and instance profiles of a cluster."""
    boundary = (config.get("Iam") or {}).get("PermissionsBoundary")
    return {
        key: resource
        for owner, section in entitled(config).items()
        for key, resource in _resources(owner, section, boundary).items()
    }


def _resources(owner: str, section: Config, boundary: str | None) -> dict[str, Any]:
    iam, suffix, path = section.get("Iam") or {}, _suffix(owner), {"Fn::Sub": "/parallelcluster/${AWS::StackName}/"}
    if iam.get("InstanceProfile"):
        return {}
    given = iam.get("InstanceRole")
    name = given.rpartition("/")[2] if given else {"Ref": f"Role{suffix}"}
    profile = {"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": [name], "Path": path}}
    if given:
        return {profile_id(owner): profile}
    managed = [row["Policy"] for row in iam.get("AdditionalIamPolicies") or ()]
    role = {
        "AssumeRolePolicyDocument": _TRUST,
        "Path": path,
        "ManagedPolicyArns": [{"Fn::Sub": _LOGS_POLICY}, *managed],
        "Policies": [
            _policy("parallelcluster", _head_statements() if owner == HEAD else _node_statements()),
            *([_policy("S3Access", _access(iam["S3Access"]))] if iam.get("S3Access") else []),
        ],
        **({"PermissionsBoundary": boundary} if boundary else {}),
    }
    return {f"Role{suffix}": {"Type": "AWS::IAM::Role", "Properties": role}, profile_id(owner): profile}


def _suffix(owner: str) -> str:
    if owner == HEAD:
        return owner
    return sha1(owner.encode(), usedforsecurity=False).hexdigest()[:16].capitalize()


def _policy(name: str, statements: Sequence[Statement]) -> dict[str, Any]:
    return {"PolicyName": name, "PolicyDocument": {"Version": "2012-10-17", "Statement": list(statements)}}


def _statement(actions: Sequence[str], *resources: str, **more: Any) -> Statement:
    return {"Effect": "Allow", "Action": list(actions), "Resource": [{"Fn::Sub": each} for each in resources], **more}


def _head_statements() -> list[Statement]:
    described = ("InstanceAttribute", "Instances", "InstanceStatus", "Volumes")
    own = {"StringEquals": {"ec2:ResourceTag/parallelcluster:cluster-name": {"Ref": "AWS::StackName"}}}
    stacks = [f"cloudformation:{verb}" for verb in ("DescribeStacks", "DescribeStackResource", "SignalResource")]
    return [
        _statement([*(f"ec2:Describe{what}" for what in described), "ec2:CreateTags", "ec2:AttachVolume"], "*"),
        _statement(["s3:GetObject"], _OWN_BUCKET, _LICENSE),
        _statement(stacks, f"{_STACKS}/*", f"{_STACKS}-*/*"),
        _statement(["ec2:TerminateInstances"], "*", Condition=own),
        _statement(["ec2:RunInstances"], "*"),
        _statement(["iam:PassRole"], _ROLES),
    ]


def _node_statements() -> list[Statement]:
    return [
        _statement(["ec2:DescribeInstanceAttribute"], "*"),
        _statement(["s3:GetObject"], _OWN_BUCKET),
    ]


def _access(rows: Sequence[Config]) -> list[Statement]:
    """Return what ``S3Access`` allows: everything under ``KeyName``, or in the bucket, to be read or also written."""
    found = []
    for row in rows:
        bucket, key = f"arn:${{AWS::Partition}}:s3:::{row['BucketName']}", row.get("KeyName")
        resources = [f"{bucket}/{key}"] if key else [bucket, f"{bucket}/*"]
        writes = str(row.get("EnableWriteAccess")).lower() == "true"
        found.append(_statement(["s3:*"] if writes else ["s3:Get*", "s3:List*"], *resources))
    return found
