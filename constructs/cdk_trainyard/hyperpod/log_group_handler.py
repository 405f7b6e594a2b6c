"""Makes the log group of a cluster, named by the cluster's id, unless it is there. AWS Lambda runs this very text."""

import json
import urllib.request
from typing import Any

import boto3


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer one request of CloudFormation: make the log group; on deletion leave it, it holds the cluster's log."""
    name = event["ResourceProperties"]["LogGroupName"]
    answer = {key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}
    answer |= {"Status": "SUCCESS", "PhysicalResourceId": name}
    try:
        if event["RequestType"] != "Delete":
            make(name)
    except Exception as error:  # noqa: BLE001  whatever went wrong: CloudFormation waits for an answer
        answer |= {"Status": "FAILED", "Reason": f"{type(error).__name__}: {error} ({context.log_stream_name})"}
    body = json.dumps(answer).encode()
    request = urllib.request.Request(event["ResponseURL"], body, {"Content-Type": ""}, method="PUT")  # noqa: S310
    urllib.request.urlopen(request, timeout=30).close()  # noqa: S310  the address is CloudFormation's


def make(name: str) -> None:
    """Make a log group; the service, or a node, may have been first."""
    logs = boto3.client("logs")
    try:
        logs.create_log_group(logGroupName=name)
    except logs.exceptions.ResourceAlreadyExistsException:
        return
