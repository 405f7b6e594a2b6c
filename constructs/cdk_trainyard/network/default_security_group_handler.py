"""Closes a VPC's default security group, which CloudFormation cannot. AWS Lambda runs this very text."""

import json
import urllib.request
from typing import Any

import boto3
from botocore.exceptions import ClientError


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer one request of CloudFormation: revoke the two rules of a new VPC; on deletion leave the group closed."""
    wanted = event["ResourceProperties"]
    answer = {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    answer |= {"Status": "SUCCESS", "PhysicalResourceId": f"{wanted['DefaultSecurityGroupId']}-closed"}
    try:
        if event["RequestType"] != "Delete":
            close(boto3.client("ec2"), wanted["DefaultSecurityGroupId"], wanted["Account"])
    except Exception as error:  # noqa: BLE001  whatever went wrong: CloudFormation waits for an answer
        answer |= {"Status": "FAILED", "Reason": f"{type(error).__name__}: {error} ({context.log_stream_name})"}
    body = json.dumps(answer).encode()
    request = urllib.request.Request(event["ResponseURL"], body, {"Content-Type": ""}, method="PUT")  # noqa: S310
    urllib.request.urlopen(request, timeout=30).close()  # noqa: S310  the address is CloudFormation's


def close(ec2: Any, group: str, account: str) -> None:
    """Revoke the rules that every default security group is born with; those that are gone already do no harm."""
    from_itself = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group, "UserId": account}]}
    to_everywhere = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
    for revoke, rule in (
        (ec2.revoke_security_group_ingress, from_itself),
        (ec2.revoke_security_group_egress, to_everywhere),
    ):
        try:
            revoke(GroupId=group, IpPermissions=[rule])
        except ClientError as error:
            if error.response["Error"]["Code"] != "InvalidPermission.NotFound":
                raise
