"""Makes the parameter of an image with the AMI that its nodes begin with. AWS Lambda runs this very text."""

import json
import time
import urllib.request
from typing import Any

import boto3

TO_ANSWER_MS = 45_000


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer one request of CloudFormation: make the parameter; on deletion delete it, if it was made here."""
    wanted, known = event["ResourceProperties"], event.get("PhysicalResourceId")
    answer = {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    answer |= {"Status": "SUCCESS", "PhysicalResourceId": known or f"{wanted['Name']} was there"}
    former = event.get("OldResourceProperties", wanted)["ImageId"]
    try:
        ssm = boto3.client("ssm")
        there = read(ssm, wanted["Name"])
        if event["RequestType"] == "Delete":
            if known == wanted["Name"]:
                delete(ssm, known)
        elif there is None or there == former or not exists(there):
            answer["PhysicalResourceId"] = known or wanted["Name"]
            write(ssm, wanted["Name"], there, wanted["ImageId"], context)
    except Exception as error:  # noqa: BLE001  whatever went wrong: CloudFormation waits for an answer
        answer |= {"Status": "FAILED", "Reason": f"{type(error).__name__}: {error} ({context.log_stream_name})"}
    body = json.dumps(answer).encode()
    request = urllib.request.Request(event["ResponseURL"], body, {"Content-Type": ""}, method="PUT")  # noqa: S310
    urllib.request.urlopen(request, timeout=30).close()  # noqa: S310  the address is CloudFormation's


def read(ssm: Any, name: str) -> str | None:
    """Return what a parameter says."""
    try:
        return str(ssm.get_parameter(Name=name)["Parameter"]["Value"])
    except ssm.exceptions.ParameterNotFound:
        return None


def exists(image_id: str) -> bool:
    """Look for an AMI, which may have been deregistered."""
    of_id = [{"Name": "image-id", "Values": [image_id]}]
    return bool(boto3.client("ec2").describe_images(Filters=of_id, IncludeDeprecated=True)["Images"])


def write(ssm: Any, name: str, there: str | None, image_id: str, context: Any) -> None:
    """Write a parameter; Parameter Store looks for the AMI after it has answered, and writes none that it misses."""
    if there == image_id:
        return
    ssm.put_parameter(Name=name, Value=image_id, Type="String", DataType="aws:ec2:image", Overwrite=True)
    while read(ssm, name) == there:
        if context.get_remaining_time_in_millis() < TO_ANSWER_MS:
            raise TimeoutError(f"Parameter Store has not taken {image_id}: is it an AMI that this account may use?")
        time.sleep(2)


def delete(ssm: Any, name: str) -> None:
    """Delete a parameter, which may be gone."""
    try:
        ssm.delete_parameter(Name=name)
    except ssm.exceptions.ParameterNotFound:
        return
