"""Makes the parameter of an image with the AMI that its build begins with. AWS Lambda runs this very text."""

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
    try:
        ssm = boto3.client("ssm")
        if event["RequestType"] == "Delete":
            if known == wanted["Name"]:
                delete(ssm, known)
        elif not is_there(ssm, wanted["Name"]):
            answer["PhysicalResourceId"] = known or wanted["Name"]
            make(ssm, wanted["Name"], wanted["ImageId"], context)
    except Exception as error:  # noqa: BLE001  whatever went wrong: CloudFormation waits for an answer
        answer |= {"Status": "FAILED", "Reason": f"{type(error).__name__}: {error} ({context.log_stream_name})"}
    body = json.dumps(answer).encode()
    request = urllib.request.Request(event["ResponseURL"], body, {"Content-Type": ""}, method="PUT")  # noqa: S310
    urllib.request.urlopen(request, timeout=30).close()  # noqa: S310  the address is CloudFormation's


def is_there(ssm: Any, name: str) -> bool:
    """Look for a parameter."""
    try:
        ssm.get_parameter(Name=name)
    except ssm.exceptions.ParameterNotFound:
        return False
    return True


def make(ssm: Any, name: str, image_id: str, context: Any) -> None:
    """Make a parameter; Parameter Store looks for the AMI after it has answered, and makes none where it finds none."""
    ssm.put_parameter(Name=name, Value=image_id, Type="String", DataType="aws:ec2:image")
    while not is_there(ssm, name):
        if context.get_remaining_time_in_millis() < TO_ANSWER_MS:
            raise TimeoutError(f"Parameter Store has not taken {image_id}: is it an AMI that this account may use?")
        time.sleep(2)


def delete(ssm: Any, name: str) -> None:
    """Delete a parameter, which may be gone."""
    try:
        ssm.delete_parameter(Name=name)
    except ssm.exceptions.ParameterNotFound:
        return
