"""CDK's small Node helpers, done in Python: they need the AWS SDK for JavaScript of the Lambda image."""

from typing import Any

from botocore.exceptions import ClientError

from cdk_trainyard.local.custom_resources.request import Answer, Request
from cdk_trainyard.local.resources.steps import is_missing

_EMPTY_TAG = "aws-cdk:auto-delete-objects"
_EMPTY_IMAGES_TAG = "aws-cdk:auto-delete-images"


def _tagged(tags: list[dict[str, str]], key: str) -> bool:
    return any(tag["Key"] == key and tag["Value"] == "true" for tag in tags)


def auto_delete_objects(request: Request) -> Answer:
    """Empty a bucket before it is deleted; only one that carries CDK's tag."""
    if request.kind != "Delete":
        return Answer(physical_id=request.properties["BucketName"] if request.kind == "Update" else "")
    s3, bucket = request.client("s3"), request.properties["BucketName"]
    try:
        if _tagged(s3.get_bucket_tagging(Bucket=bucket)["TagSet"], _EMPTY_TAG):
            for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
                for row in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]:
                    s3.delete_object(Bucket=bucket, Key=row["Key"], VersionId=row["VersionId"])
    except ClientError as error:
        if not is_missing(error):
            raise
    return Answer()


def auto_delete_images(request: Request) -> Answer:
    """Empty an image repository before it is deleted; only one that carries CDK's tag."""
    if request.kind != "Delete":
        return Answer()
    ecr, name = request.client("ecr"), request.properties["RepositoryName"]
    try:
        repository = ecr.describe_repositories(repositoryNames=[name])["repositories"][0]
        if _tagged(ecr.list_tags_for_resource(resourceArn=repository["repositoryArn"])["tags"], _EMPTY_IMAGES_TAG):
            images = ecr.list_images(repositoryName=name)["imageIds"]
            if images:
                ecr.batch_delete_image(repositoryName=name, imageIds=images)
    except ClientError as error:
        if not is_missing(error):
            raise
    return Answer()


def _default_rules(group: str, owner: str) -> dict[str, dict[str, Any]]:
    """Return the rules that EC2 gives to a VPC's default security group."""
    return {
        "egress": {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]},
        "ingress": {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group, "UserId": owner}]},
    }


def restrict_default_security_group(request: Request) -> Answer:
    """Take the rules from a VPC's default security group; give them back on deletion."""
    group, owner = request.properties["DefaultSecurityGroupId"], request.properties["Account"]
    old = request.previous.get("DefaultSecurityGroupId")
    if request.kind == "Delete":
        _change_rules(request, "authorize", group, owner)
    elif request.kind == "Create":
        _change_rules(request, "revoke", group, owner)
    elif old and old != group:
        _change_rules(request, "authorize", old, owner)
        _change_rules(request, "revoke", group, owner)
    return Answer()


def _change_rules(request: Request, verb: str, group: str, owner: str) -> None:
    ec2 = request.client("ec2")
    for side, rule in _default_rules(group, owner).items():
        try:
            getattr(ec2, f"{verb}_security_group_{side}")(GroupId=group, IpPermissions=[rule])
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code not in ("InvalidPermission.NotFound", "InvalidPermission.Duplicate", "InvalidGroup.NotFound"):
                raise


def log_retention(request: Request) -> Answer:
    """Create a log group when it is missing, and set its retention."""
    properties, name = request.properties, request.properties["LogGroupName"]
    logs = request.client("logs", properties.get("LogGroupRegion"))
    if request.kind == "Delete":
        if properties.get("RemovalPolicy") == "destroy":
            _ignoring("ResourceNotFoundException", lambda: logs.delete_log_group(logGroupName=name))
        return Answer(physical_id=name, data={"LogGroupName": name})
    _ignoring("ResourceAlreadyExistsException", lambda: logs.create_log_group(logGroupName=name))
    if properties.get("RetentionInDays"):
        logs.put_retention_policy(logGroupName=name, retentionInDays=int(properties["RetentionInDays"]))
    else:
        logs.delete_retention_policy(logGroupName=name)
    return Answer(physical_id=name, data={"LogGroupName": name})


def _ignoring(code: str, operation: Any) -> None:
    try:
        operation()
    except ClientError as error:
        if error.response["Error"]["Code"] != code:
            raise
