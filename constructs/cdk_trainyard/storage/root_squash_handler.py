"""Sets the root squash of a file system, which CloudFormation has no property for. AWS Lambda runs this very text."""

import json
import urllib.request
from typing import Any

import boto3


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer one request of CloudFormation: set the root squash; on deletion leave the file system as it is."""
    wanted = event["ResourceProperties"]
    answer = {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    answer |= {"Status": "SUCCESS", "PhysicalResourceId": f"{wanted['FileSystemId']}-root-squash"}
    try:
        if event["RequestType"] != "Delete":
            boto3.client("fsx").update_file_system(
                FileSystemId=wanted["FileSystemId"],
                LustreConfiguration={
                    "RootSquashConfiguration": {
                        "RootSquash": wanted["RootSquash"],
                        "NoSquashNids": wanted["NoSquashNids"],
                    }
                },
            )
    except Exception as error:  # noqa: BLE001  whatever went wrong: CloudFormation waits for an answer
        answer |= {"Status": "FAILED", "Reason": f"{type(error).__name__}: {error} ({context.log_stream_name})"}
    body = json.dumps(answer).encode()
    request = urllib.request.Request(event["ResponseURL"], body, {"Content-Type": ""}, method="PUT")  # noqa: S310
    urllib.request.urlopen(request, timeout=30).close()  # noqa: S310  the address is CloudFormation's
