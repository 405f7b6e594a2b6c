"""Answers CloudFormation for a custom resource; it stands beside inline code that has the line ``import cfnresponse``.

This project's own, to the interface that AWS documents: CloudFormation User Guide, "cfn-response module", and "Custom
resource response objects" (November 2026). It is put into functions as it is, and imports the standard library only.
"""

import json
import sys
import urllib.request
from collections.abc import Mapping
from typing import Any

SUCCESS = "SUCCESS"
FAILED = "FAILED"


def send(
    event: Mapping[str, Any],
    context: Any,
    responseStatus: str,  # noqa: N803  the names are AWS's
    responseData: Mapping[str, Any],  # noqa: N803
    physicalResourceId: str | None = None,  # noqa: N803
    noEcho: bool = False,  # noqa: N803
    reason: str | None = None,
) -> None:
    """Answer a request of CloudFormation; what goes wrong is printed, and the function goes on.

    Args:
        event: The request.
        context: What Lambda gave to the handler.
        responseStatus: `SUCCESS` or `FAILED`.
        responseData: What ``Fn::GetAtt`` returns.
        physicalResourceId: Default - the name of the function's log stream.
        noEcho: Whether ``Fn::GetAtt`` masks the data.
        reason: Why it failed. Default - where the log is.
    """
    body = {
        "Status": responseStatus,
        "Reason": reason or f"See the details in CloudWatch Log Stream: {context.log_stream_name}",
        "PhysicalResourceId": physicalResourceId or context.log_stream_name,
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "NoEcho": noEcho,
        "Data": responseData,
    }
    # no content type: the presigned address is signed without one
    request = urllib.request.Request(  # noqa: S310  the address is CloudFormation's
        event["ResponseURL"], data=json.dumps(body).encode(), headers={"content-type": ""}, method="PUT"
    )
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310  as above
            sys.stdout.write(f"cfnresponse: CloudFormation answered {answer.status}\n")
    except OSError as error:
        sys.stdout.write(f"cfnresponse: CloudFormation was not answered: {error}\n")
