"""Actions that read and write what is in S3, DynamoDB, logs, SNS, SQS, secrets and KMS, and the ARNs they name.

Source: AWS Service Authorization Reference, actions and resource types of each service (read 2026-11).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """The requests that read and write what a store holds.

    Attributes:
        read: The action that reads.
        write: The action that writes.
        arn: The store's ARN.
        within: What stands behind the ARN in a request. Default - nothing.
        named_by: The property that names the store.
    """

    read: str
    write: str
    arn: str
    within: str = ""
    named_by: str = "Name"


ACCESS: Final[Mapping[str, Access]] = {
    "AWS::DynamoDB::Table": Access(
        read="dynamodb:GetItem",
        write="dynamodb:PutItem",
        arn="arn:{partition}:dynamodb:{region}:{account}:table/{name}",
        named_by="TableName",
    ),
    "AWS::Logs::LogGroup": Access(
        read="logs:GetLogEvents",
        write="logs:PutLogEvents",
        arn="arn:{partition}:logs:{region}:{account}:log-group:{name}:*",
        within=":log-stream:anything",
        named_by="LogGroupName",
    ),
    "AWS::S3::Bucket": Access(
        read="s3:GetObject",
        write="s3:PutObject",
        arn="arn:{partition}:s3:::{name}",
        within="/anything",
        named_by="BucketName",
    ),
    "AWS::SNS::Topic": Access(
        read="sns:Subscribe",
        write="sns:Publish",
        arn="arn:{partition}:sns:{region}:{account}:{name}",
        named_by="TopicName",
    ),
    "AWS::SQS::Queue": Access(
        read="sqs:ReceiveMessage",
        write="sqs:SendMessage",
        arn="arn:{partition}:sqs:{region}:{account}:{name}",
        named_by="QueueName",
    ),
    "AWS::SecretsManager::Secret": Access(
        read="secretsmanager:GetSecretValue",
        write="secretsmanager:PutSecretValue",
        arn="arn:{partition}:secretsmanager:{region}:{account}:secret:{name}-AbCdEf",
    ),
    "AWS::KMS::Key": Access(
        read="kms:Decrypt",
        write="kms:GenerateDataKey",
        arn="arn:{partition}:kms:{region}:{account}:key/{name}",
        named_by="",
    ),
}
"""Type of a store to its requests, in the order of types."""

OTHER_ARNS: Final = {
    "AWS::IAM::Role": "arn:{partition}:iam::{account}:role/{name}",
    "AWS::IAM::User": "arn:{partition}:iam::{account}:user/{name}",
    "AWS::Lambda::Function": "arn:{partition}:lambda:{region}:{account}:function:{name}",
}
"""ARNs of what holds no data, and is named in policies."""

REF_IS_ARN: Final = {"AWS::SecretsManager::Secret", "AWS::SNS::Topic"}
"""Types of which `Ref` gives the ARN. Source: AWS CloudFormation User Guide, their return values."""
