"""Protects a database from deletion when its creation has succeeded. AWS Lambda runs this very text."""

import json
import time
import urllib.request
from typing import Any

import boto3

TO_ANSWER_MS = 60_000


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer one request of CloudFormation: protect the database; on deletion, which is a rollback, release it."""
    identifier = event["ResourceProperties"]["DBInstanceIdentifier"]
    answer = {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
    answer |= {"Status": "SUCCESS", "PhysicalResourceId": f"{identifier}-deletion-protection"}
    try:
        set_protection(identifier, event["RequestType"] != "Delete", context)
    except Exception as error:  # noqa: BLE001  whatever went wrong: CloudFormation waits for an answer
        answer |= {"Status": "FAILED", "Reason": f"{type(error).__name__}: {error} ({context.log_stream_name})"}
    body = json.dumps(answer).encode()
    request = urllib.request.Request(event["ResponseURL"], body, {"Content-Type": ""}, method="PUT")  # noqa: S310
    urllib.request.urlopen(request, timeout=30).close()  # noqa: S310  the address is CloudFormation's


def set_protection(identifier: str, protect: bool, context: Any) -> None:
    """Ask RDS, again while the database is busy with its first backup; one that is gone needs no release."""
    rds = boto3.client("rds")
    while True:
        try:
            rds.modify_db_instance(DBInstanceIdentifier=identifier, DeletionProtection=protect, ApplyImmediately=True)
        except rds.exceptions.DBInstanceNotFoundFault:
            if protect:
                raise
        except rds.exceptions.InvalidDBInstanceStateFault:
            if context.get_remaining_time_in_millis() < TO_ANSWER_MS:
                raise
            time.sleep(15)
            continue
        return
