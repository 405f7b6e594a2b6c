"""Stand-ins for objects of CDK, exchanged for real ones when constructs are made."""

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import Any, Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_logs as logs

from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.options import stand_ins
from cdk_trainyard.options.fields import fields_of

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

_REAL: Final[Mapping[type[stand_ins.StandIn], Callable[[Existing, Any], Any]]] = {
    stand_ins.Alarm: Existing.alarm,
    stand_ins.Key: Existing.key,
    stand_ins.Removal: lambda _, name: RemovalPolicy[name],
    stand_ins.Retention: lambda _, days: RETENTION[days],
    stand_ins.Role: Existing.role,
    stand_ins.Secret: Existing.secret,
    stand_ins.SecurityGroup: Existing.security_group,
    stand_ins.Span: lambda _, seconds: Duration.seconds(seconds),
    stand_ins.Topic: Existing.topic,
}
"""What makes the real object of a stand-in's value."""


def keywords(spec: Any, existing: Existing) -> dict[str, Any]:
    """Return a specification as the keywords of its constructor.

    Args:
        spec: The specification, as a file says it.
        existing: Where objects are taken that exist already.
    """
    kind: type = type(spec)
    return {name: real(getattr(spec, name), existing) for name in fields_of(kind)}


def real(value: Any, existing: Existing) -> Any:
    """Return a value with real objects in place of stand-ins, however deep.

    Args:
        value: A value of a specification, or a specification.
        existing: Where objects are taken that exist already.
    """
    if isinstance(value, stand_ins.StandIn):
        return _REAL[type(value)](existing, value.value)
    if isinstance(value, tuple):
        return tuple(real(item, existing) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(**keywords(value, existing))
    return value
