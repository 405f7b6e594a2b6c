"""Whether ParallelCluster's validators take raw keys. Pure.

What its schema says of them is said elsewhere; here is what it says in code (``pcluster/validators`` of 3.16.1).
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdk_trainyard.options.kinds import Arn, Environment
from cdk_trainyard.parallelcluster.context import ParallelClusterFacts
from cdk_trainyard.parallelcluster.facts import fact
from cdk_trainyard.parallelcluster.merge import is_list, merged, value_at
from cdk_trainyard.parallelcluster.resolve import managed_dns
from cdk_trainyard.parallelcluster.rules_config import RAW, Level, levels
from cdk_trainyard.parallelcluster.rules_nodes import FETCHED
from cdk_trainyard.parallelcluster.rules_raw_storage import is_true, storage_problems
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec
from cdk_trainyard.problems import At, Problem, shown
from cdk_trainyard.tokens import unresolved

Problems = Iterator[Problem]
_SECRET: Final = Arn(service="secretsmanager", resource=r"secret:\S+", form="secret:<name>", what="a secret")
_INCLUDED: Final = "Scheduling.SlurmSettings.CustomSlurmSettingsIncludeFile"
_ADDRESSES: Final = (
    "DevSettings.ClusterTemplate",
    "DevSettings.Cookbook.ChefCookbook",
    "DevSettings.NodePackage",
    _INCLUDED,
)
_FORMS: Final[Mapping[str, tuple[str, str]]] = {
    "CustomS3Bucket": (r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", "the name of a bucket"),
    "DirectoryService.DomainName": (
        r"[\w-]+(\.[\w-]+)*|(DC|dc)=[\w-]+(,(DC|dc)=[\w-]+)*",
        "a domain, as corp.example.com or dc=corp,dc=example,dc=com",
    ),
    "DirectoryService.AdditionalSssdConfigs.id_provider": ("ldap", "ldap, or left out"),
    "LaunchTemplateOverrides.LaunchTemplateId": (
        r"lt-[0-9a-f]{8}([0-9a-f]{9})?",
        "the id of a launch template, as lt-0123456789abcdef0",
    ),
    **dict.fromkeys(
        _ADDRESSES, (r"(?i:https)://.+|s3://[^/]+/.+", "an address as s3://bucket/key or https://host/path")
    ),
    "Scheduling.SlurmSettings.Dns.HostedZoneId": (
        "Z[0-9A-Z]{1,31}",
        "the id of a hosted zone, as Z0123456789ABC",
    ),
    "Networking.Proxy.HttpProxyAddress": (
        r"(?!.*://).+|https?://.+",
        "an address that begins with http:// or https://",
    ),
}
"""Values by their path, and what each must be (``DomainNameValidator``, ``DIRECTORY_SERVICE_RESERVED_SETTINGS``,
``UrlValidator``; names of buckets and proxies as the user guide has them; ids as botocore's EC2 and Route 53 do)."""
_NO_SECRET: Final = "must be no reference to a secret, which CloudFormation does not resolve in a cluster"  # noqa: S105
_BUCKET: Final = _FORMS["CustomS3Bucket"]
_ATTRIBUTES: Final = "DevSettings.Cookbook.ExtraChefAttributes"
_ROLES: Final = ("Iam.InstanceRole", "Iam.InstanceProfile")
_ZONE: Final = "Scheduling.SlurmSettings.Dns.HostedZoneId"
_EXTERNAL: Final = "Scheduling.SlurmSettings.ExternalSlurmdbd"
_MUNGE: Final = "Scheduling.SlurmSettings.MungeKeySecretArn"
_PASSWORD: Final = "DirectoryService.PasswordSecretArn"  # noqa: S105  a key, not a secret
_INTEL: Final = "AdditionalPackages.IntelSoftware.IntelHpcPlatform"


def raw_problems(spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    """Raw keys say what ParallelCluster's validators take."""
    for level in levels(spec, context):
        at = (*level.at, RAW)
        for path, (form, words) in _FORMS.items():
            value = value_at(level.raw, path)
            if isinstance(value, str) and not unresolved(value) and not re.fullmatch(form, value, re.ASCII):
                yield Problem((*at, *path.split(".")), f"must be {words}, got {shown(value)}")
        yield from _reference_problems(at, level.raw)
        if level.config != ():
            yield from _group_problems((*at, "Networking", "PlacementGroup"), level)
        for path in _ROLES:
            if value_at(level.raw, path) is not None:
                text = "must be left out: these nodes have policies of the cluster, and no role fits beside them"
                yield Problem((*at, *path.split(".")), text, of_key=True)
        yield from _bucket_problems((*at, "Iam", "S3Access"), value_at(level.raw, "Iam.S3Access"))
        if level.config == ():
            yield from _cluster_problems(at, level.raw, spec, context)
        efs_of_head, kind = value_at(level.raw, "SharedStorageEfsSettings"), value_at(level.raw, "SharedStorageType")
        if efs_of_head is not None and kind != "Efs" and not unresolved(kind):  # SharedStorageEfsSettingsValidator
            text = "must be left out unless 'SharedStorageType' is Efs"
            yield Problem((*at, "SharedStorageEfsSettings"), text, of_key=True)


def _group_problems(at: At, level: Level) -> Problems:
    """A placement group is named once, and nodes are placed in it (``PlacementGroupNamingValidator``)."""
    group = value_at(merged(level.rendered, level.raw), "Networking.PlacementGroup")
    own = value_at(level.rendered, "Networking.PlacementGroup.Name")
    for key in ("Id", "Name"):
        if value_at(group, key) is None or (key == "Name" and own is not None):  # a second name is a conflict
            continue
        if key == "Id" and value_at(group, "Name") is not None:
            other = "'Name'" if own is None else "'placement_group'"
            yield Problem((*at, key), f"must be left out beside {other}, which names it", of_key=True)
        elif str(value_at(group, "Enabled")).lower() == "false":
            yield Problem((*at, key), "must be given with 'placement' cluster, got anywhere", of_key=True)


def _reference_problems(at: At, raw: Any) -> Problems:
    """No secret is asked for: CloudFormation resolves none in a custom resource, and would hand over the words.

    Source: CloudFormation user guide, "Using dynamic references to specify template values", read in November 2026.
    """
    if isinstance(raw, str) and not unresolved(raw) and re.search(r"\{\{resolve:(ssm-secure|secretsmanager):", raw):
        yield Problem(at, f"{_NO_SECRET}, got {shown(raw)}")
    elif isinstance(raw, Mapping):
        for key, value in raw.items():
            yield from _reference_problems((*at, key), value)
    elif is_list(raw):
        for index, value in enumerate(raw):
            yield from _reference_problems((*at, index), value)


def _bucket_problems(at: At, access: Any) -> Problems:
    """What nodes may read is in buckets that can be; a star stands for any part of a name."""
    form, words = _BUCKET
    for index, entry in enumerate(access if is_list(access) else ()):
        name = entry.get("BucketName") if isinstance(entry, Mapping) else None
        if isinstance(name, str) and not unresolved(name) and "*" not in name and not re.fullmatch(form, name):
            yield Problem((*at, index, "BucketName"), f"must be {words}, got {shown(name)}")


def _cluster_problems(at: At, raw: Any, spec: ParallelClusterSpec, context: ParallelClusterFacts) -> Problems:
    yield from _attribute_problems(at, raw)
    environment = Environment(region=context.region)
    for path in (_MUNGE, _PASSWORD):  # ArnServiceAndResourceValidator, PasswordSecretArnValidator
        value = value_at(raw, path)
        if not isinstance(value, str) or unresolved(value) or (path == _PASSWORD and not _is_password(value, context)):
            continue
        if wrong := _SECRET.problem(value, environment):
            yield wrong.at((*at, *path.split(".")))
    for path in _ADDRESSES:
        value = str(value_at(raw, path))
        is_url = re.match("https://", value, re.IGNORECASE) is not None and not unresolved(value)
        if is_url and (wrong := FETCHED.problem(f"https{value[5:]}", environment)):
            yield wrong.at((*at, *path.split(".")))
    for path, stop, text in (
        (
            _ZONE,
            managed_dns(spec, context.place) is False,
            "must be left out where node names are in no zone of Route 53",
        ),
        (_INCLUDED, bool(spec.slurm.custom), "must be left out beside 'custom' of 'slurm': ParallelCluster takes one"),
        (_EXTERNAL, spec.slurm.accounting is not None, "must be left out beside 'accounting' of 'slurm'"),
        (_EXTERNAL, value_at(raw, _MUNGE) is None, "must be given with 'MungeKeySecretArn', the key that both share"),
        (
            _INTEL,
            is_true(value_at(raw, _INTEL)),
            "must be left out: it is for CentOS 7, which ParallelCluster no longer has",
        ),
    ):
        if stop and value_at(raw, path) is not None:
            yield Problem((*at, *path.split(".")), text, of_key=True)
    longest, name = fact("cluster_name_length_with_accounting"), spec.cluster_name
    if (
        value_at(raw, _EXTERNAL) is not None and not unresolved(name) and len(str(name)) > longest
    ):  # ClusterNameValidator
        text = f"must be at most {longest} characters with ExternalSlurmdbd, got {shown(str(name))}"
        yield Problem(("cluster_name",), text)
    yield from storage_problems((*at, "SharedStorage"), value_at(raw, "SharedStorage"), spec, context)


def _attribute_problems(at: At, raw: Any) -> Problems:
    """What Chef is told beside is JSON (``CookbookSchema``)."""
    value = value_at(raw, _ATTRIBUTES)
    try:
        json.loads(value if isinstance(value, str) and value and not unresolved(value) else "{}")
    except ValueError:
        words = """must be JSON, as '{"cluster": {"slurm_reconfigure_timeout": 600}}'"""
        yield Problem((*at, *_ATTRIBUTES.split(".")), f"{words}, got {shown(value)}")


def _is_password(value: str, context: ParallelClusterFacts) -> bool:
    """Whether the schema takes it, and it must be a secret: us-isob-east-1 has parameters of SSM for it, too."""
    pattern = fact("schema")["DirectoryService"]["keys"]["PasswordSecretArn"]["pattern"]
    return bool(re.match(pattern, value)) and context.region != "us-isob-east-1"
