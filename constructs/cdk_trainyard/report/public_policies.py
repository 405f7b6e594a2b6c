"""Policies of resources, and access control lists of buckets, that let everybody in.

Source: Amazon S3 User Guide, "Blocking public access to your Amazon S3 storage" (the meaning of "public": who is
everybody, and which condition keys with fixed values narrow it; new buckets block public access) (read 2026-11).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.identities import listed, statements
from cdk_trainyard.report.network import under

BUCKET: Final = "AWS::S3::Bucket"
_ACCESS_POINT: Final = "AWS::S3::AccessPoint"
_OF: Final = {
    "AWS::APS::ResourcePolicy": "WorkspaceArn",
    "AWS::Kinesis::ResourcePolicy": "ResourceArn",
    "AWS::S3::BucketPolicy": "Bucket",
    "AWS::S3Express::BucketPolicy": "Bucket",
    "AWS::SNS::TopicInlinePolicy": "TopicArn",
    "AWS::SNS::TopicPolicy": "Topics",
    "AWS::SQS::QueueInlinePolicy": "Queue",
    "AWS::SQS::QueuePolicy": "Queues",
    "AWS::SecretsManager::ResourcePolicy": "SecretId",
}
"""Types that are a policy for others: the property that names of what. Any other that has a policy has its own."""
_DOCUMENTS: Final = {
    "AccessPolicies", "KeyPolicy", "NamespaceResourcePolicy", "PermissionsPolicyDocument", "Policy", "PolicyDocument",
    "RepositoryPolicyText", "ResourcePolicy", "ResourcePolicyDocument",
}  # fmt: skip
"""Properties that hold a policy for others, in some types as JSON in a string."""
_OTHERS: Final = ("AWS::ApiGateway::", "AWS::EC2::", "AWS::IAM::", "AWS::IoT::", "AWS::SSO::")
"""Types whose policies say what somebody may do, or narrow what an endpoint lets through."""
_NARROWING: Final = {
    "aws:principalaccount", "aws:principalarn", "aws:principalorgid", "aws:principalorgpaths", "aws:sourceaccount",
    "aws:sourcearn", "aws:sourceip", "aws:sourceorgid", "aws:sourceorgpaths", "aws:sourceowner", "aws:sourcevpc",
    "aws:sourcevpce", "aws:userid", "aws:vpcsourceip", "kms:calleraccount", "s3:dataaccesspointaccount",
    "s3:dataaccesspointarn",
}  # fmt: skip
_EVERY: Final = {"*", "0.0.0.0/0", "::/0"}
_LISTS: Final = {"PublicRead": "s3:ListBucket", "PublicReadWrite": "s3:ListBucket, s3:PutObject"}
"""Canned access control lists for everybody, and what they allow. Source: S3 User Guide, "Canned ACL"."""
_EVERYBODY: Final = "its policy is for everybody"


def public_policies(graph: Graph) -> Iterator[tuple[Resource, str, str]]:
    """Yield what everybody may use by a policy or a list: the resource, the actions, and why.

    Args:
        graph: The resources.
    """
    for resource in graph.resources.values():
        if not resource.type.startswith("AWS::") or resource.type.startswith(_OTHERS):
            continue
        properties = graph.properties(resource)
        whose = graph.targets(properties.get(_OF.get(resource.type, "")))
        documents = map(_document, under(properties, _DOCUMENTS))
        for statement in (each for document in documents for each in statements(document)):
            if _is_for_everybody(statement):
                for each in whose or [resource]:
                    if why := _why(graph, each):
                        yield each, _actions(graph, statement), why
    for bucket in graph.of_type(BUCKET):
        properties = graph.properties(bucket)
        what = _LISTS.get(str(properties.get("AccessControl", "")))
        if what and not _blocks(properties, "BlockPublicAcls", "IgnorePublicAcls"):
            yield bucket, what, "its access control list is for everybody"


def _document(written: Any) -> Any:
    try:
        return json.loads(written) if isinstance(written, str) else written
    except ValueError:
        return None


def _why(graph: Graph, resource: Resource) -> str:
    """Return why a policy for everybody opens a resource; nothing where the resource refuses it."""
    properties = graph.properties(resource)
    if "VPCOptions" in properties:
        return ""
    if resource.type == _ACCESS_POINT:
        is_blocked = "PublicAccessBlockConfiguration" not in properties or "VpcConfiguration" in properties
        return "" if is_blocked or _blocks(properties, "BlockPublicPolicy", "RestrictPublicBuckets") else _EVERYBODY
    if resource.type != BUCKET:
        return _EVERYBODY
    if _blocks(properties, "BlockPublicPolicy", "RestrictPublicBuckets"):
        return ""
    if "PublicAccessBlockConfiguration" in properties:
        return _EVERYBODY
    return f"{_EVERYBODY}; S3 refuses it while the bucket blocks public access, as new buckets do"


def _blocks(properties: Mapping[str, Any], *flags: str) -> bool:
    given = properties.get("PublicAccessBlockConfiguration")
    return isinstance(given, Mapping) and any(str(given.get(flag, "")).lower() == "true" for flag in flags)


def _actions(graph: Graph, statement: Mapping[str, Any]) -> str:
    if "NotAction" in statement:
        return f"every action but {graph.said(statement['NotAction'])}"
    return graph.said(statement.get("Action", "?"))


def _is_for_everybody(statement: Mapping[str, Any]) -> bool:
    if statement.get("Effect") != "Allow" or _is_narrowed(statement.get("Condition")):
        return False
    principal = statement.get("Principal")
    return "NotPrincipal" in statement or "*" in listed(
        principal.get("AWS") if isinstance(principal, Mapping) else principal
    )


def _is_narrowed(condition: Any) -> bool:
    """Whether a condition asks for a fixed value of a key that says who comes, or from where."""
    if not isinstance(condition, Mapping):
        return False
    return any(
        str(key).lower() in _NARROWING and not _EVERY & {str(each) for each in listed(value)}
        for operator, keys in condition.items()
        if isinstance(keys, Mapping) and "Not" not in str(operator) and not str(operator).endswith("IfExists")
        for key, value in keys.items()
    )
