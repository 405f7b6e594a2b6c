"""Turns stand-ins of options into CDK's Duration, RetentionDays, RemovalPolicy and InstanceType.

A specification's default is a stand-in where CDK's type is no plain value; a constructor that uses such an option asks
`real` for the object. `cdk_trainyard.deployment.exchange` knows the others, which refer to something that exists.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs

from cdk_trainyard.options.stand_ins import DatabaseClass, Removal, Retention, Span
from cdk_trainyard.retention import KEPT

_Value = TypeVar("_Value")
RETENTION: Final[Mapping[int, logs.RetentionDays]] = {
    1: logs.RetentionDays.ONE_DAY,
    3: logs.RetentionDays.THREE_DAYS,
    5: logs.RetentionDays.FIVE_DAYS,
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    60: logs.RetentionDays.TWO_MONTHS,
    90: logs.RetentionDays.THREE_MONTHS,
    120: logs.RetentionDays.FOUR_MONTHS,
    150: logs.RetentionDays.FIVE_MONTHS,
    180: logs.RetentionDays.SIX_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
    400: logs.RetentionDays.THIRTEEN_MONTHS,
    545: logs.RetentionDays.EIGHTEEN_MONTHS,
    731: logs.RetentionDays.TWO_YEARS,
    1096: logs.RetentionDays.THREE_YEARS,
    1827: logs.RetentionDays.FIVE_YEARS,
    2192: logs.RetentionDays.SIX_YEARS,
    2557: logs.RetentionDays.SEVEN_YEARS,
    2922: logs.RetentionDays.EIGHT_YEARS,
    3288: logs.RetentionDays.NINE_YEARS,
    3653: logs.RetentionDays.TEN_YEARS,
}
REMOVAL: Final[Mapping[str, RemovalPolicy]] = {"RETAIN": KEPT, "DESTROY": RemovalPolicy.DESTROY}
"""What a file says about removal."""
_REAL: Final[Mapping[type, Callable[[Any], Any]]] = {
    DatabaseClass: lambda said: ec2.InstanceType(said.value),
    Removal: lambda said: REMOVAL[said.value],
    Retention: lambda said: RETENTION[said.value],
    Span: lambda said: Duration.seconds(said.value),
}


def real(value: _Value) -> _Value:
    """Return what a stand-in stands for; any other value as it is.

    Args:
        value: A value of a specification.
    """
    return cast("_Value", _REAL[type(value)](value)) if type(value) in _REAL else value
