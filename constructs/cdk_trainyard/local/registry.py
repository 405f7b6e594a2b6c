"""The resource types that the local AWS knows: one table file per service in `resources`."""

from functools import lru_cache

from cdk_trainyard.local.custom_resources.resource import CUSTOM
from cdk_trainyard.local.resources import (
    acm,
    apigateway,
    apigatewayv2,
    applicationautoscaling,
    aps,
    autoscaling,
    batch,
    cloudformation,
    cloudwatch,
    codebuild,
    dynamodb,
    ec2,
    ec2_addresses,
    ec2_security,
    ecr,
    ecs,
    efs,
    elbv2,
    events,
    fsx,
    grafana,
    iam,
    imagebuilder,
    kinesis,
    kms,
    lambda_,
    logs,
    rds,
    s3,
    sagemaker,
    secretsmanager,
    sns,
    sqs,
    ssm,
    stepfunctions,
    wafv2,
)
from cdk_trainyard.local.resources.model import ResourceType

_TABLES = (
    acm.TYPES,
    apigateway.TYPES,
    apigatewayv2.TYPES,
    applicationautoscaling.TYPES,
    aps.TYPES,
    autoscaling.TYPES,
    batch.TYPES,
    cloudformation.TYPES,
    cloudwatch.TYPES,
    codebuild.TYPES,
    dynamodb.TYPES,
    ec2.TYPES,
    ec2_addresses.TYPES,
    ec2_security.TYPES,
    ecr.TYPES,
    ecs.TYPES,
    efs.TYPES,
    elbv2.TYPES,
    events.TYPES,
    fsx.TYPES,
    grafana.TYPES,
    iam.TYPES,
    imagebuilder.TYPES,
    kinesis.TYPES,
    kms.TYPES,
    lambda_.TYPES,
    logs.TYPES,
    rds.TYPES,
    s3.TYPES,
    sagemaker.TYPES,
    secretsmanager.TYPES,
    sns.TYPES,
    sqs.TYPES,
    ssm.TYPES,
    stepfunctions.TYPES,
    wafv2.TYPES,
)
_CUSTOM_NAMES = ("Custom::", CUSTOM.name)


@lru_cache(maxsize=1)
def _types() -> dict[str, ResourceType]:
    return {type_.name: type_ for table in _TABLES for type_ in table}


def supported_types() -> frozenset[str]:
    """Return the names of the CloudFormation types that can be deployed; every ``Custom::…`` can be, too."""
    return frozenset({*_types(), CUSTOM.name})


def is_supported(name: str) -> bool:
    """Return whether resources of the type ``name`` can be deployed."""
    return name in _types() or name.startswith(_CUSTOM_NAMES)


def type_of(name: str) -> ResourceType:
    """Return the row of a supported type.

    Raises:
        KeyError: The type is not supported.
    """
    return CUSTOM if name.startswith(_CUSTOM_NAMES) else _types()[name]
