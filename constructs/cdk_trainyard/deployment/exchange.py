"""Stand-ins for objects of CDK, exchanged for real ones when constructs are made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any, Final

from cdk_trainyard.deployment.existing import Existing
from cdk_trainyard.options import stand_ins
from cdk_trainyard.options.fields import fields_of
from cdk_trainyard.real import real
from cdk_trainyard.storage import TrainingBuckets
from cdk_trainyard.storage.spec import ExistingBucket, ExistingLogBucket

_REAL: Final[Mapping[type, Callable[["Exchange", Any], Any]]] = {
    ExistingBucket: lambda here, said: here.existing.bucket(said),
    ExistingLogBucket: lambda here, said: here.existing.bucket(said),
    stand_ins.ImageRepository: lambda here, said: here.existing.repository(said.value),
    stand_ins.Certificate: lambda here, said: here.existing.certificate(said.value),
    stand_ins.Repository: lambda here, said: here.existing.repository(said.value),
    stand_ins.Alarm: lambda here, said: here.existing.alarm(said.value),
    stand_ins.DataBucket: lambda here, said: getattr(here.buckets, said.value),
    stand_ins.DeploymentBucket: lambda here, said: getattr(here.buckets, said.value),
    stand_ins.ManagedPolicy: lambda here, said: here.existing.policy(said.value),
    stand_ins.Key: lambda here, said: here.existing.key(said.value),
    stand_ins.KeyPair: lambda here, said: here.existing.key_pair(said.value),
    stand_ins.Role: lambda here, said: here.existing.role(said.value),
    stand_ins.Secret: lambda here, said: here.existing.secret(said.value),
    stand_ins.SecurityGroup: lambda here, said: here.existing.security_group(said.value),
    stand_ins.Topic: lambda here, said: here.existing.topic(said.value),
}
"""What a file says, by its type, to what makes the real object of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """Replaces what a file names by objects of CDK: ids and ARNs by imported ones (IBucket, IKey, …), and values.

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
        if is_dataclass(value) and not isinstance(value, type | stand_ins.StandIn):
            return type(value)(**self.keywords(value))
        return real(value)
