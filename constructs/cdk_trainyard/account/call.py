"""A call of an AWS API: which one, with what, the permission that it needs, and the AWS CLI's command of it."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from botocore import xform_name

_PREFIXES: Final = {"efs": "elasticfilesystem", "elbv2": "elasticloadbalancing", "service-quotas": "servicequotas"}
"""IAM's prefixes of services that boto3 names otherwise. Source: Service Authorization Reference, read 2026-11."""
_ACTIONS: Final = {
    "s3:HeadBucket": "s3:ListBucket",
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:GetBucketEncryption": "s3:GetEncryptionConfiguration",
}
"""IAM's names of calls that are named otherwise. Source: Amazon S3 User Guide, "Required permissions for Amazon S3 API
operations", read 2026-11."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an AWS API.

    Attributes:
        service: The service as boto3 names it: ``"ec2"``.
        operation: The operation as AWS writes it: ``"DescribeInstances"``.
        parameters: Its parameters as AWS writes them. Default - none.
        region: Where it is made. Default - in the account's Region.
    """

    service: str
    operation: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    region: str = ""

    def __str__(self) -> str:
        """Which one: ``ec2 DescribeInstances``."""
        return f"{self.service} {self.operation}"

    @property
    def method(self) -> str:
        """Its name as a method of a client of boto3."""
        return str(xform_name(self.operation))

    @property
    def permission(self) -> str:
        """The action of IAM that it needs."""
        action = f"{_PREFIXES.get(self.service, self.service)}:{self.operation}"
        return _ACTIONS.get(action, action)

    def split(self, member: str, most: int) -> "list[Call]":
        """Return the calls that together say the same, none where the list is empty.

        Args:
            member: The parameter that is a list.
            most: How many items one call takes.
        """
        items = list(self.parameters[member])
        parts = (items[first : first + most] for first in range(0, len(items), most))
        return [replace(self, parameters={**self.parameters, member: part}) for part in parts]

    def command(self, region: str) -> str:
        """Return the AWS CLI's command that makes the same call.

        Args:
            region: The Region of a call that names none.
        """
        name, region = str(xform_name(self.operation, "-")), self.region or region
        return shlex.join(["aws", self.service, name, *self._options(), "--region", region])

    def _options(self) -> Iterator[str]:
        for name, value in self.parameters.items():
            option = f"--{xform_name(name, '-')}"
            if isinstance(value, bool):
                yield option if value else option.replace("--", "--no-", 1)
            elif isinstance(value, list) and all(isinstance(each, str) for each in value):
                yield from (option, *value)
            else:
                yield from (option, json.dumps(value) if isinstance(value, list | dict) else str(value))
