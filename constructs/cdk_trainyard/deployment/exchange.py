"""Stand-ins for objects of CDK, exchanged for real ones when constructs are made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any, Final

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_logs as logs

from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.options import stand_ins
from cdk_trainyard.options.fields import fields_of
from cdk_trainyard.retention import KEPT
from cdk_trainyard.storage import TrainingBuckets
from cdk_trainyard.storage.spec import ExistingBucket

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
_REAL: Final[Mapping[type, Callable[["Exchange", Any], Any]]] = {
    ExistingBucket: lambda here, said: here.existing.bucket(said),
    stand_ins.Alarm: lambda here, said: here.existing.alarm(said.value),
    stand_ins.DeploymentBucket: lambda here, said: getattr(here.buckets, said.value),
    stand_ins.Key: lambda here, said: here.existing.key(said.value),
    stand_ins.Removal: lambda _, said: REMOVAL[said.value],
    stand_ins.Retention: lambda _, said: RETENTION[said.value],
    stand_ins.Role: lambda here, said: here.existing.role(said.value),
    stand_ins.Secret: lambda here, said: here.existing.secret(said.value),
    stand_ins.SecurityGroup: lambda here, said: here.existing.security_group(said.value),
    stand_ins.Span: lambda _, said: Duration.seconds(said.value),
    stand_ins.Topic: lambda here, said: here.existing.topic(said.value),
}
"""What a file says, by its type, to what makes the real object of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """Exchanges what a file says for real objects.

    Attributes:
        existing: Where objects are taken that exist already.
        buckets: The deployment's buckets. None: nothing refers to them.
    """

    existing: Existing
    buckets: TrainingBuckets | None = None

    def keywords(self, spec: Any) -> dict[str, Any]:
        """Return a specification, as a file says it, as the keywords of its constructor."""
        kind: type = type(spec)
        return {name: self.real(getattr(spec, name)) for name in fields_of(kind)}

    def real(self, value: Any) -> Any:
        """Return a value with real objects in place of stand-ins, however deep."""
        if type(value) in _REAL:
            return _REAL[type(value)](self, value)
        if isinstance(value, tuple):
            return tuple(self.real(item) for item in value)
        if is_dataclass(value) and not isinstance(value, type):
            return type(value)(**self.keywords(value))
        return value
