"""Sessions of roles that were made for one test."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import boto3
import pytest
from botocore.config import Config

from cdk_trainyard.local import LocalAws

Statement = Mapping[str, Any]
ANYBODY = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
_numbers = count()


def document(statements: Sequence[Statement]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def allow(actions: str | list[str], resources: str | list[str] = "*", **elements: Any) -> Statement:
    return {"Effect": "Allow", "Action": actions, "Resource": resources, **elements}


class Role:
    """A role with inline policies, and clients of its sessions."""

    def __init__(self, aws: LocalAws, *statements: Statement, **more: Any) -> None:
        self.aws = aws
        self.name = f"role-{next(_numbers)}"
        iam = aws.client("iam")
        self.arn = iam.create_role(RoleName=self.name, AssumeRolePolicyDocument=document([ANYBODY]), **more)["Role"][
            "Arn"
        ]
        if statements:
            iam.put_role_policy(RoleName=self.name, PolicyName="inline", PolicyDocument=document(statements))

    def client(self, service: str, *, session: str = "test", **more: Any) -> Any:
        """Return a client with a session's credentials."""
        made = self.aws.client("sts").assume_role(RoleArn=self.arn, RoleSessionName=session, **more)["Credentials"]
        return boto3.client(
            service,
            region_name=self.aws.region,
            endpoint_url=self.aws.endpoint,
            aws_access_key_id=made["AccessKeyId"],
            aws_secret_access_key=made["SecretAccessKey"],
            aws_session_token=made["SessionToken"],
            config=Config(retries={"max_attempts": 0}, s3={"addressing_style": "path"}),
        )


@pytest.fixture
def role(aws: LocalAws) -> Iterator[Callable[..., Role]]:
    """Makes a role of statements."""

    def make(*statements: Statement, **more: Any) -> Role:
        return Role(aws, *statements, **more)

    return make
