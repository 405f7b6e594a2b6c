"""What a deployment file says in place of objects of CDK: a key by its ARN, a duration by a number.

A specification is annotated with CDK's types, as its constructor is; nothing of CDK is imported to read a file. There,
a stand-in takes the object's place: it answers what rules ask of the real one, and is exchanged for it when constructs
are made (`cdk_trainyard.deployment.exchange`). The option's key says what the file has: ``key`` becomes ``key_arn``,
``cooldown`` becomes ``cooldown_seconds``.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, Final

from cdk_trainyard.options.kinds import Arn, Choice, Kind, Number, Text, resource_id


@dataclass(frozen=True, slots=True)
class StandIn:
    """Stands for an object of CDK.

    Attributes:
        value: What the file says.
    """

    value: Any

    what: ClassVar[str]
    """The real object, in messages to those who write Python."""
    member: ClassVar[str]
    """What the real object is known by; the stand-in has it too."""
    kind: ClassVar[Kind]
    """What the file's value must be."""
    written: ClassVar[type] = str
    """Type of the file's value."""
    suffix: ClassVar[str] = "_arn"
    """End of the key in the file."""

    @classmethod
    def stands_for(cls, value: object) -> bool:
        """Return whether a value is such a real object; its class is asked, as the object would have to ask Node.

        An object that jsii knows by its interfaces alone has one delegate for each.
        """
        delegates = getattr(value, "__dict__", {}).get("_delegates") or [value]
        return any(hasattr(type(each), cls.member) for each in delegates)

    def __getattr__(self, name: str) -> Any:
        """Answer for the real object what it is known by."""
        if name == type(self).member:
            return self.value
        raise AttributeError(name)


class Key(StandIn):
    """A KMS key."""

    what, member = "a kms.IKey", "key_arn"
    kind = Arn(
        service="kms",
        resource=r"key/([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|mrk-[0-9a-f]{32})",
        form="key/<id>",
        what="a KMS key (not of an alias)",
    )


class Role(StandIn):
    """An IAM role."""

    what, member = "an iam.IRole", "role_arn"
    kind = Arn(
        service="iam",
        resource=r"role(/[\x21-\x7e]+)*/[\w+=,.@-]{1,64}",
        form="role/<name>",
        what="an IAM role",
        regional=False,
        any_account=False,
    )


class Secret(StandIn):
    """A secret of Secrets Manager."""

    what, member = "a secretsmanager.ISecret", "secret_arn"
    kind = Arn(
        service="secretsmanager",
        resource=r"secret:[A-Za-z0-9/_+=.@-]+-[A-Za-z0-9]{6}",
        form="secret:<name>-<six characters>",
        what="a secret",
    )


class Topic(StandIn):
    """An SNS topic."""

    what, member = "an sns.ITopic", "topic_arn"
    kind = Arn(service="sns", resource=r"[A-Za-z0-9_-]{1,256}", form="<name>", what="an SNS topic")


class Alarm(StandIn):
    """A CloudWatch alarm."""

    what, member = "a cloudwatch.IAlarm", "alarm_arn"
    kind = Arn(
        service="cloudwatch", resource=r"alarm:.{1,255}", form="alarm:<name>", what="an alarm", any_account=False
    )


class Certificate(StandIn):
    """A certificate of ACM."""

    what, member = "an acm.ICertificate", "certificate_arn"
    kind = Arn(
        service="acm",
        resource=r"certificate/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        form="certificate/<id>",
        what="a certificate",
        any_account=False,
    )


class Repository(StandIn):
    """A repository of ECR."""

    what, member = "an ecr.IRepository", "repository_arn"
    kind = Arn(
        service="ecr",
        resource=r"repository/(?=.{2,256}$)[a-z0-9]+([._/-][a-z0-9]+)*",
        form="repository/<name>",
        what="a repository of Amazon ECR",
        any_region=True,
    )


class SecurityGroup(StandIn):
    """A security group."""

    what, member, suffix = "an ec2.ISecurityGroup", "security_group_id", "_id"
    kind = resource_id("sg", "a security group")


class Span(StandIn):
    """A length of time in seconds; the key says the unit in which the file has it."""

    what, member, suffix, written = "a Duration", "to_seconds", "", int
    kind = Number(minimum=0)

    def to_seconds(self) -> int:
        """Return seconds."""
        return int(self.value)

    def to_minutes(self) -> float:
        """Return minutes."""
        return float(self.value / 60)


class Enumeration(StandIn):
    """A member of an enumeration of CDK's, known by the name of its class."""

    @classmethod
    def stands_for(cls, value: object) -> bool:
        """Return whether a value is a member of the enumeration."""
        return type(value).__name__ == cls.member


class Retention(Enumeration):
    """How many days CloudWatch Logs keeps logs."""

    what, member, suffix, written = "a logs.RetentionDays", "RetentionDays", "_days", int
    kind = Choice(
        values=(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653)
    )  # botocore's logs service model, PutRetentionPolicy; a test compares


class Removal(Enumeration):
    """What becomes of a resource that leaves its stack."""

    what, member, suffix = "a RemovalPolicy", "RemovalPolicy", ""
    kind = Choice(values=("RETAIN", "DESTROY"))

    @property
    def name(self) -> str:
        """The member's name."""
        return str(self.value)


class DeploymentBucket(StandIn):
    """One of the deployment's own buckets."""

    what, member, suffix = "an s3.IBucket", "bucket_name", ""
    kind = Choice(values=("scripts", "datasets", "checkpoints", "models"))


class KeyPair(StandIn):
    """A key pair of EC2."""

    what, member, suffix = "an ec2.IKeyPair", "key_pair_name", ""
    kind = Text(
        pattern=r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?",
        words="the name of an EC2 key pair",
        example="my-key",
        longest=255,
    )


CDK_TYPES: Final = {
    "Duration": Span,
    "RemovalPolicy": Removal,
    "acm": SimpleNamespace(ICertificate=Certificate),
    "cloudwatch": SimpleNamespace(IAlarm=Alarm),
    "ec2": SimpleNamespace(IKeyPair=KeyPair, ISecurityGroup=SecurityGroup),
    "ecr": SimpleNamespace(IRepository=Repository),
    "iam": SimpleNamespace(IRole=Role),
    "kms": SimpleNamespace(IKey=Key),
    "logs": SimpleNamespace(RetentionDays=Retention),
    "s3": SimpleNamespace(IBucket=DeploymentBucket),
    "secretsmanager": SimpleNamespace(ISecret=Secret),
    "sns": SimpleNamespace(ITopic=Topic),
}
"""CDK's types by the names under which specifications import them, and what stands in for each in a file."""
