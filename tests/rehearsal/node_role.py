"""The role of nodes that no deployment has made."""

import json

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal.control_plane import ControlPlane
from cdk_trainyard.rehearsal.model import Node
from cdk_trainyard.rehearsal.roles import RoleOf, role_credentials

_NAME = "nodes-of-tests"


def started_in(aws: LocalAws, environment: pytest.MonkeyPatch) -> None:
    """Let this process be one that was started in the local AWS."""
    for name, value in aws.environment.items():
        if name.startswith("AWS_"):
            environment.setenv(name, value)


def may_everything(aws: LocalAws, region: str) -> RoleOf:
    """Return what tells the role of nodes: one that may do everything."""
    iam = aws.client("iam")
    allowed = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    # its own sessions too: one of them asks for those of the nodes
    who = {"Service": "ec2.amazonaws.com", "AWS": "*"}
    trusted = {"Effect": "Allow", "Principal": who, "Action": "sts:AssumeRole"}
    try:
        arn = iam.get_role(RoleName=_NAME)["Role"]["Arn"]
    except ClientError:
        trust = json.dumps({"Version": "2012-10-17", "Statement": [trusted]})
        arn = iam.create_role(RoleName=_NAME, AssumeRolePolicyDocument=trust)["Role"]["Arn"]
        policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
        iam.put_role_policy(RoleName=_NAME, PolicyName="all", PolicyDocument=policy)
    with pytest.MonkeyPatch.context() as environment:
        started_in(aws, environment)
        plane = ControlPlane(region, aws.client("sts").assume_role(RoleArn=arn, RoleSessionName="test")["Credentials"])

    def role(node: Node) -> dict[str, str]:
        return dict(role_credentials(plane, arn, node))

    return role
