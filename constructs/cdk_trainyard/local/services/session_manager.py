"""Session Manager: sessions of nodes are started and ended; what they carry is for a data channel that is not here.

Sources: botocore's model of SSM (errors, lengths); AWS Systems Manager user guide, "Session document schema" and "Start
a session" (AWS's own documents); Amazon SageMaker developer guide, "Accessing your SageMaker HyperPod cluster nodes"
(targets of nodes of clusters); read 2026-11.
"""

import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from moto.ssm.models import ssm_backends
from moto.ssm.responses import SimpleSystemManagerResponse

from cdk_trainyard.local.clients import client
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.partition import url_suffix
from cdk_trainyard.local.services.api import Request, install
from cdk_trainyard.local.services.constraints import check
from cdk_trainyard.local.state import Store

Row = dict[str, Any]
_SESSIONS: Store[dict[str, Row]] = Store(lambda _account, _region: {})
_SHELL = "SSM-SessionManagerRunShell"
_DOCUMENTS = {
    _SHELL: frozenset[str](),
    "AWS-StartSSHSession": frozenset({"portNumber"}),
    "AWS-StartPortForwardingSession": frozenset({"portNumber", "localPortNumber"}),
    "AWS-StartPortForwardingSessionToRemoteHost": frozenset({"portNumber", "localPortNumber", "host"}),
    "AWS-StartInteractiveCommand": frozenset({"command"}),
    "AWS-StartNonInteractiveCommand": frozenset({"command"}),
}
"""AWS's own documents of sessions, with their parameters."""
_OF_CLUSTER = re.compile(r"sagemaker-cluster:([a-z0-9]{12})_(.+)-(i-[0-9a-f]{17})")
_INSTANCE = re.compile(r"i-(?:[0-9a-f]{8}|[0-9a-f]{17})")


def start_session(request: Request) -> Row:
    """Start a session with a node that is connected: an instance that runs."""
    check("ssm", "StartSession", request.parameters)
    _refuse_document(request, request.get("DocumentName", _SHELL), request.get("Parameters", {}))
    target = request["Target"]
    if not _is_connected(request.region, target):
        raise ApiError("TargetNotConnected", f"{target} is not connected.")
    identifier = f"trainyard-{secrets.token_hex(9)[:17]}"
    sessions = _SESSIONS.of(request.account, request.region)
    sessions[identifier] = {
        "SessionId": identifier,
        "Target": target,
        "Status": "Connected",
        "StartDate": datetime.now(UTC),
        "DocumentName": request.get("DocumentName", _SHELL),
        "Owner": f"arn:{request.partition}:iam::{request.account}:root",
        "Reason": request.get("Reason"),
    }
    host = f"ssmmessages.{request.region}.{url_suffix(request.partition)}"
    url = f"wss://{host}/v1/data-channel/{identifier}?role=publish_subscribe"
    return {"SessionId": identifier, "TokenValue": secrets.token_urlsafe(200), "StreamUrl": url}


def terminate_session(request: Request) -> Row:
    """End a session; one that has ended already stays so."""
    check("ssm", "TerminateSession", request.parameters)
    found = _SESSIONS.of(request.account, request.region).get(request["SessionId"])
    if found:
        found.update(Status="Terminated", EndDate=datetime.now(UTC))
    return {"SessionId": request["SessionId"]}


def describe_sessions(request: Request) -> Row:
    """Return the sessions that go on, or those that have ended."""
    check("ssm", "DescribeSessions", request.parameters)
    rows = _SESSIONS.of(request.account, request.region).values()
    return {"Sessions": [row for row in rows if ("EndDate" in row) == (request["State"] == "History")]}


def _refuse_document(request: Request, name: str, parameters: Mapping[str, Any]) -> None:
    known = _DOCUMENTS.get(name)
    own = ssm_backends[request.account][request.region]._documents.get(name)  # noqa: SLF001  moto has no look-up for it
    if known is None and own is None:
        raise ApiError("InvalidDocument", f"Document with name {name} does not exist.")
    if known is not None and (wrong := sorted(set(parameters) - known)):
        raise ApiError("InvalidParameters", f"The document {name} has no parameters {', '.join(wrong)}.")


def _is_connected(region: str, target: str) -> bool:
    if found := _OF_CLUSTER.fullmatch(target):
        return _is_node(region, *found.groups())
    if not _INSTANCE.fullmatch(target):
        return False
    filters = [{"Name": "instance-id", "Values": [target]}, {"Name": "instance-state-name", "Values": ["running"]}]
    return bool(client("ec2", region).describe_instances(Filters=filters)["Reservations"])


def _is_node(region: str, cluster: str, group: str, instance: str) -> bool:
    sagemaker = client("sagemaker", region)
    for page in sagemaker.get_paginator("list_clusters").paginate():
        for summary in page["ClusterSummaries"]:
            if summary["ClusterArn"].endswith(f"/{cluster}"):
                nodes = sagemaker.get_paginator("list_cluster_nodes").paginate(ClusterName=summary["ClusterName"])
                return any(
                    (row["InstanceGroupName"], row.get("InstanceId")) == (group, instance)
                    and row["InstanceStatus"]["Status"] == "Running"
                    for each in nodes
                    for row in each["ClusterNodeSummaries"]
                )
    return False


def extend() -> None:
    """Give moto's SSM sessions."""
    operations = {
        "start_session": start_session,
        "terminate_session": terminate_session,
        "describe_sessions": describe_sessions,
    }
    install(SimpleSystemManagerResponse, operations)
