"""Asking the API of the local AWS for what CloudFormation created. Needs the extra ``local``.

Only an API on this machine is asked: ``ControlPlane`` refuses any other.
"""

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from ipaddress import IPv4Address, IPv4Network
from typing import Any
from urllib.parse import urlsplit

from cdk_trainyard.rehearsal.agent import Bundle
from cdk_trainyard.rehearsal.errors import RehearsalError
from cdk_trainyard.rehearsal.model import Lustre

ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL"
_MOST_LINES = 10_000
"""The most that PutLogEvents takes at once (botocore's model of CloudWatch Logs)."""
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def local_endpoint() -> str | None:
    """Return the endpoint of the local AWS that this process was started in, or None."""
    endpoint = os.environ.get(ENDPOINT_VARIABLE, "")
    return endpoint if urlsplit(endpoint).hostname in _LOOPBACK else None


class ControlPlane:
    """The API of the local AWS, as far as every rehearsal asks it.

    Attributes:
        endpoint: Where it is.
        region: The region.
    """

    def __init__(self, region: str, credentials: Mapping[str, Any] | None = None) -> None:
        """Connect to the API.

        Args:
            region: The region.
            credentials: ``Credentials`` of ``AssumeRole``, which calls are signed with. Default - the environment's.

        Raises:
            RehearsalError: The environment names no API on this machine.
        """
        import boto3  # noqa: PLC0415  most of a start, and most commands for a rehearsal ask no API

        endpoint = local_endpoint()
        if endpoint is None:
            raise RehearsalError("a rehearsal asks the local AWS only: start it with python -m cdk_trainyard.local run")
        self.endpoint = endpoint
        self.region = region
        self._clients: dict[str, Any] = {}
        self._session = boto3.Session()  # the default one keeps the credentials of whoever asked first
        names = {
            "AccessKeyId": "access_key_id",
            "SecretAccessKey": "secret_access_key",
            "SessionToken": "session_token",
        }
        self._key = {f"aws_{name}": (credentials or {}).get(member) for member, name in names.items()}

    def client(self, service: str) -> Any:
        """Return the boto3 client of a service."""
        if service not in self._clients:
            self._clients[service] = self._session.client(
                service, region_name=self.region, endpoint_url=self.endpoint, **self._key
            )
        return self._clients[service]

    def credentials_of(self, role_arn: str, instance_id: str) -> Mapping[str, Any]:
        """Return the ``Credentials`` of an instance with a role: of a session that has the instance's id."""
        made: Mapping[str, Any] = self.client("sts").assume_role(RoleArn=role_arn, RoleSessionName=instance_id)
        return dict(made["Credentials"])

    def as_instance(self, role_arn: str, instance_id: str) -> "ControlPlane":
        """Return the API as an instance with a role calls it."""
        return ControlPlane(self.region, self.credentials_of(role_arn, instance_id))

    def calls(self) -> list[Mapping[str, Any]]:
        """Return what CloudTrail says of every call that a role's session has made, oldest first."""
        events = self.client("cloudtrail").lookup_events()["Events"]
        return [json.loads(event["CloudTrailEvent"]) for event in reversed(events)]

    def bundle(self, source: str) -> Bundle:
        """Return every file under ``s3://<bucket>/<prefix>``.

        Raises:
            RehearsalError: There is none, or S3 refuses: a node would be told the same.
        """
        try:
            files = self._objects(*_place_of(source))
        except self.client("s3").exceptions.ClientError as error:
            reason = error.response["Error"]
            raise RehearsalError(
                f"the scripts at {source} cannot be read: {reason['Code']}: {reason['Message']}"
            ) from None
        if not files:
            raise RehearsalError(f"there are no scripts at {source}")
        return files

    def _objects(self, bucket: str, prefix: str) -> Bundle:
        pages = self.client("s3").get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/")
        names = [row["Key"] for page in pages for row in page.get("Contents", [])]
        get = self.client("s3").get_object
        return {name.removeprefix(f"{prefix}/"): get(Bucket=bucket, Key=name)["Body"].read() for name in names}

    def replace_bundle(self, source: str, files: Bundle) -> None:
        """Put files under ``s3://<bucket>/<prefix>``, in the place of what is there."""
        bucket, prefix = _place_of(source)
        client = self.client("s3")
        for name in self.bundle(source):
            if name not in files:
                client.delete_object(Bucket=bucket, Key=f"{prefix}/{name}")
        for name, data in files.items():
            client.put_object(Bucket=bucket, Key=f"{prefix}/{name}", Body=data)

    def put_log(self, group: str, stream: str, lines: Sequence[str]) -> None:
        """Write lines into a log stream, as the agent of a node's image does; what is missing of it is made."""
        logs, place = self.client("logs"), {"logGroupName": group, "logStreamName": stream}
        for create in (partial(logs.create_log_group, logGroupName=group), partial(logs.create_log_stream, **place)):
            with suppress(logs.exceptions.ResourceAlreadyExistsException):
                create()
        now = int(time.time() * 1000)
        if events := [{"timestamp": now, "message": line} for line in lines[-_MOST_LINES:] if line]:
            logs.put_log_events(**place, logEvents=events)

    def subnet(self, subnet_id: str) -> Mapping[str, Any]:
        """Return what EC2 says of a subnet."""
        found: Mapping[str, Any] = self.client("ec2").describe_subnets(SubnetIds=[subnet_id])["Subnets"][0]
        return found

    def lustre(self) -> tuple[Lustre, ...]:
        """Return every Lustre file system."""
        return lustre_of(self.client("fsx").describe_file_systems()["FileSystems"])


def lustre_of(described: Iterable[Mapping[str, Any]]) -> tuple[Lustre, ...]:
    """Return the Lustre file systems of an answer of ``DescribeFileSystems``."""
    return tuple(
        Lustre(dns_name=row["DNSName"], mount_name=row["LustreConfiguration"]["MountName"])
        for row in described
        if row["FileSystemType"] == "LUSTRE"
    )


def tags_of(thing: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags of an instance or a stack by their keys."""
    return {tag["Key"]: tag["Value"] for tag in thing.get("Tags") or ()}


def network_around(subnet: IPv4Network, addresses: Iterable[IPv4Address]) -> IPv4Network:
    """Return the smallest network with the subnet and every address: nodes may stand in several subnets."""
    for address in addresses:
        while address not in subnet:
            subnet = subnet.supernet()
    return subnet


def _place_of(source: str) -> tuple[str, str]:
    parts = urlsplit(source)
    return parts.netloc, parts.path.strip("/")
