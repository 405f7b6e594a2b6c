"""What a deployment file says in place of objects of CDK: a key by its ARN, a duration by a number.

A specification is annotated with CDK's types, as its constructor is; nothing of CDK is imported to read a file. There,
a stand-in takes the object's place: it answers what rules ask of the real one, and is exchanged for it when constructs
are made (`cdk_trainyard.deployment.exchange`). The option's key says what the file has: ``key`` becomes ``key_arn``,
``cooldown`` becomes ``cooldown_seconds``.
"""

import re
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, ClassVar, Final

from cdk_trainyard.errors import did_you_mean
from cdk_trainyard.options.arns import PolicyArn, SecretArn, TopicArn
from cdk_trainyard.options.kinds import Arn, Choice, Environment, Kind, Number, Text, resource_id
from cdk_trainyard.options.repositories import REPOSITORY_ARN, RepositoryName
from cdk_trainyard.problems import Flaw


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
    remedy: ClassVar[str] = ""
    """What to do with another object, as the end of a sentence."""

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
    """An IAM role that a service takes on and that policies can be attached to.

    Those of services, and of IAM Identity Center below ``aws-reserved``, nobody but AWS can change: IAM answers
    ``UnmodifiableEntity`` (its API reference, ``AttachRolePolicy``; rebuy-de/aws-nuke#441).
    """

    what, member = "an iam.IRole", "role_arn"
    kind = Arn(
        service="iam",
        resource=r"role(?!/aws-(service-role|reserved)/)(/[\x21-\x7e]+)?/[\w+=,.@-]{1,64}",
        form="role/<name>",
        what="an IAM role (not of one that is linked to a service or to IAM Identity Center)",
        regional=False,
        any_account=False,
    )


class Secret(StandIn):
    """A secret of Secrets Manager."""

    what, member = "a secretsmanager.ISecret", "secret_arn"
    kind = SecretArn(
        service="secretsmanager",
        # the signs of a name that CreateSecret takes (botocore), and those of RDS's own: rds!db-…, rds!cluster-…
        resource=r"secret:[A-Za-z0-9/_+=.@!-]{1,512}-[A-Za-z0-9]{6}",
        form="secret:<name>-<six characters>",
        what="a secret",
    )


class Topic(StandIn):
    """An SNS topic."""

    what, member = "an sns.ITopic", "topic_arn"
    kind = TopicArn(service="sns", resource=r"[A-Za-z0-9_-]{1,256}", form="<name>", what="an SNS topic")


class Alarm(StandIn):
    """A CloudWatch alarm."""

    what, member = "a cloudwatch.IAlarm", "alarm_arn"
    kind = Arn(
        service="cloudwatch",
        resource=r"alarm:(?=.*\S).{1,255}",
        form="alarm:<name>",
        what="an alarm",
        any_account=False,
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
    kind = REPOSITORY_ARN


class ImageRepository(StandIn):
    """A repository of ECR, by its name in the account and the Region, by its ARN, or ``*`` for any of them."""

    what, member, suffix = "an ecr.IRepository", "repository_arn", ""
    kind = RepositoryName()


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


def _of_removal(text: str) -> str:
    """Return what to write for how CloudFormation, Terraform and Kubernetes call what becomes of a resource."""
    words = {"delete": "DESTROY", "keep": "RETAIN", "prevent_destroy": "RETAIN"}
    return f"; write {words[text.lower()]}" if text.lower() in words else ""


class Removal(Enumeration):
    """What becomes of a resource that leaves its stack."""

    what, member, suffix = "a RemovalPolicy", "RemovalPolicy", ""
    kind = Choice(values=("RETAIN", "DESTROY"), remedy=_of_removal)

    @property
    def name(self) -> str:
        """The member's name."""
        return str(self.value)


class VolumeRemoval(Removal):
    """What becomes of a volume, which can leave a snapshot."""

    kind = Choice(values=("RETAIN", "DESTROY", "SNAPSHOT"), remedy=_of_removal)


class ManagedPolicy(StandIn):
    """A managed policy of IAM, of the account's or of AWS's own."""

    what, member = "an iam.IManagedPolicy", "managed_policy_arn"
    kind = PolicyArn(
        service="iam",
        resource=r"policy(/[\x21-\x7e]+)?/[\w+=,.@-]{1,128}",
        form="policy/<name>",
        what="a managed policy",
        regional=False,
        any_account=False,
        of_aws=True,
    )


class SubnetRole(Choice):
    """What a subnet is in the network."""

    __slots__ = ()

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Say of a subnet's id where it stands."""
        wrong = Choice.problem(self, value, environment)
        remedy = _OF_A_SUBNET if str(value).startswith("subnet-") else _PRIVATE.get(value)
        return replace(wrong, remedy=remedy) if wrong and remedy else wrong


_PRIVATE: Final = {"private": "; accelerator is the nodes' private subnet, and service are other private ones"}
_OF_A_SUBNET: Final = (
    "; subnets that exist stand in 'network', with 'vpc_id': in 'accelerator_subnet', 'public_subnets' or "
    "'service_subnets'"
)


class Subnet(StandIn):
    """A subnet by what it is in the network: the accelerator subnet, a public one, a service subnet."""

    what, member, suffix = "an ec2.ISubnet", "subnet_id", ""
    kind = SubnetRole(values=("accelerator", "public", "service"))


class UploadedScripts(StandIn):
    """The folder of scripts of a deployment; its value says whether it is the project's own."""

    what, member, suffix, written = "a NodeScripts", "is_own", "", bool
    kind = Choice(values=(True, False))


class OwnPlacementGroup(StandIn):
    """A placement group of an app, which no file has."""

    what, member, suffix = "a PlacementGroup", "placement_group_name", ""
    kind = Text(pattern=".+", words="the name of a placement group", example="nodes")


def _of_a_bucket(text: str) -> str:
    """Return what to do where the name of a bucket stands, and not what it is in the deployment."""
    if did_you_mean(text, ("scripts", "datasets", "checkpoints", "models")) or not re.fullmatch(
        r"s3://.+|arn:.+|[a-z0-9][a-z0-9.-]{2,62}", text
    ):
        return ""
    return "; name a bucket of yours by 'bucket_name' in 'storage.buckets', as in its 'datasets', and write datasets"


class DeploymentBucket(StandIn):
    """One of the deployment's own buckets."""

    what, member, suffix = "an s3.IBucket", "bucket_name", ""
    kind = Choice(values=("scripts", "datasets", "checkpoints", "models"), remedy=_of_a_bucket)


class DataBucket(DeploymentBucket):
    """One of the deployment's own buckets that hold data."""

    kind = Choice(values=("datasets", "checkpoints", "models"), remedy=_of_a_bucket)


class KeyPair(StandIn):
    """A key pair of EC2."""

    what, member, suffix = "an ec2.IKeyPair", "key_pair_name", ""
    kind = Text(
        pattern=r"(?!.*(\{\{resolve:|\$\{)|arn:aws|key-[0-9a-f]{17}$|(sk-)?(ssh|ecdsa)-[a-z0-9@.-]+ AAAA|"
        r"-----BEGIN|[A-Za-z]:[\\/]|~/|\.{1,2}/|.*\.ssh/|/.*\.(pem|pub)$)"
        r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?",
        words="the name of an EC2 key pair, 255 ASCII characters at most, and not its id, ARN, key or file",
        example="my-key",
        longest=255,
    )


class BuiltImage(StandIn):
    """A machine image that is built, which a file has as a section."""

    what, member, suffix = "a TrainingImage", "build_command", ""
    kind = Number()


class DatabaseClass(StandIn):
    """A class of database instances of RDS, without its prefix ``db.``."""

    what, member, suffix = "an ec2.InstanceType", "architecture", ""
    kind = Text(
        pattern=r"[A-Za-z][A-Za-z0-9-]*\.(micro|small|medium|large|[1-9]?[0-9]?xlarge|metal)",
        words="a class of RDS without 'db.'",
        example="t4g.medium",
    )


class Wiring(StandIn):
    """A construct of this library, or a value that holds one: only Python has it."""

    suffix, kind = "", Choice(values=())

    @classmethod
    def stands_for(cls, value: object) -> bool:
        """Return whether a value's class, or one that it inherits from, has the name."""
        return any(base.__name__ == cls.member for base in type(value).__mro__)


class NetworkWiring(Wiring):
    """A network."""

    what, member = "a Network", "Network"
    remedy = "TrainingNetwork.from_existing takes a VPC of yours, and which of its subnets the nodes are in"


class SecurityGroupWiring(Wiring):
    """A security group with the rules that EFA needs."""

    what, member = "an EfaSecurityGroup", "EfaSecurityGroup"


class MountWiring(Wiring):
    """A file system at a path."""

    what, member = "a Mount", "Mount"


class ScriptsWiring(Wiring):
    """A folder of scripts in a bucket."""

    what, member = "LifecycleScripts", "LifecycleScripts"


class DatabaseWiring(Wiring):
    """A database of Slurm's accounting."""

    what, member = "an AccountingDatabase", "AccountingDatabaseBase"


CDK_TYPES: Final = {
    "AccountingDatabaseBase": DatabaseWiring,
    "Duration": Span,
    "EfaSecurityGroup": SecurityGroupWiring,
    "LifecycleScripts": ScriptsWiring,
    "Mount": MountWiring,
    "Network": NetworkWiring,
    "RemovalPolicy": Removal,
    "TrainingImage": BuiltImage,
    "acm": SimpleNamespace(ICertificate=Certificate),
    "cloudwatch": SimpleNamespace(IAlarm=Alarm),
    "NodeScripts": UploadedScripts,
    "PlacementGroup": OwnPlacementGroup,
    "ec2": SimpleNamespace(IKeyPair=KeyPair, ISecurityGroup=SecurityGroup, ISubnet=Subnet, InstanceType=DatabaseClass),
    "ecr": SimpleNamespace(IRepository=Repository),
    "iam": SimpleNamespace(IManagedPolicy=ManagedPolicy, IRole=Role),
    "kms": SimpleNamespace(IKey=Key),
    "logs": SimpleNamespace(RetentionDays=Retention),
    "s3": SimpleNamespace(IBucket=DeploymentBucket),
    "secretsmanager": SimpleNamespace(ISecret=Secret),
    "sns": SimpleNamespace(ITopic=Topic),
}
"""Types of CDK, and of constructs, by the names under which specifications import them: what stands in for each."""
