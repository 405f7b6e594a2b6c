"""What the policy of a network's S3 endpoint lets pass. No CDK: a file is judged by it, too."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from cdk_trainyard.data_files import load

AWS_BUCKETS: Final = {"s3:GetObject": "AwsPackagesAndImages", "s3:PutObject": "CloudFormationAnswers"}
"""What everybody may do with buckets of AWS's own, and the statement's id."""
PUBLIC_ACTIONS: Final = ("s3:GetObject", "s3:ListBucket")
"""What everybody may do with buckets of the user's choice."""


def bucket_arns(action: str, partition: str, region: str, without_dashes: str) -> list[str]:
    """Return what everybody may do something with, of the buckets of AWS and of registries that nodes need.

    Args:
        action: The action.
        partition: The partition.
        region: The Region.
        without_dashes: Its name without dashes, as some buckets have it.
    """
    chosen = [bucket for bucket in aws_buckets() if bucket["action"] == action]
    return [
        f"arn:{partition}:s3:::{bucket['name'].format(region=region, region_without_dashes=without_dashes)}"
        f"/{bucket.get('prefix', '')}*"
        for bucket in chosen
    ]


def public_arns(names: Sequence[str], partition: str) -> list[str]:
    """Return what everybody may list and read, of buckets of the user's choice.

    Args:
        names: The buckets.
        partition: The partition.
    """
    return [f"arn:{partition}:s3:::{name}{end}" for name in names for end in ("", "/*")]


def s3_policy(region: str, partition: str, account: str, public_buckets: Sequence[str] = ()) -> dict[str, object]:
    """Return the policy of the S3 endpoint of a network as it will be once deployed, for who has no stack.

    Args:
        region: The Region.
        partition: Its partition.
        account: The account.
        public_buckets: The network's.
    """
    of_account = {"StringEquals": {"aws:PrincipalAccount": account}}
    public = PUBLIC_ACTIONS if public_buckets else ()
    passing = {action: bucket_arns(action, partition, region, region.replace("-", "")) for action in AWS_BUCKETS}
    passing |= {action: [*passing.get(action, []), *public_arns(public_buckets, partition)] for action in public}
    everybody = [
        {"Effect": "Allow", "Principal": "*", "Action": name, "Resource": arns} for name, arns in passing.items()
    ]
    account_alone = {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "*", "Condition": of_account}
    return {"Version": "2012-10-17", "Statement": [account_alone, *everybody]}


@cache
def aws_buckets() -> tuple[dict[str, str], ...]:
    """Return those buckets: name, with ``{region}`` for the Region, prefix if not all of it, action and purpose."""
    return tuple(load("network", "aws_buckets")["buckets"])
