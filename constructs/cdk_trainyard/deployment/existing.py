"""What exists already, taken into an app by the ids and ARNs of the deployment file."""

from typing import TYPE_CHECKING, cast

from aws_cdk import Annotations, Aws, Fn, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from constructs import Construct

from cdk_trainyard.network.spec import SubnetSpec
from cdk_trainyard.storage.spec import ExistingBucket, ExistingLogBucket

if TYPE_CHECKING:  # modules that only those wait for who name such a thing
    from aws_cdk import aws_certificatemanager as acm
    from aws_cdk import aws_ecr as ecr


class Existing(Construct):
    """What exists already, taken once each. Defines nothing.

    Args:
        scope: The parent: a stack.
    """

    def __init__(self, scope: Construct) -> None:
        super().__init__(scope, "Existing")

    @classmethod
    def of(cls, scope: Construct) -> "Existing":
        """Return the one of a scope."""
        known = scope.node.try_find_child("Existing")
        return known if isinstance(known, cls) else cls(scope)

    def key(self, arn: str | None) -> kms.IKey | None:
        """Take a KMS key, its partition being the stack's."""
        if arn is None:
            return None
        _, _, place = arn.split(":", 2)
        return kms.Key.from_key_arn(self, self._next("Key"), Fn.join("", ["arn:", Aws.PARTITION, ":", place]))

    def key_pair(self, name: str) -> ec2.IKeyPair:
        """Take a key pair of EC2."""
        return ec2.KeyPair.from_key_pair_name(self, self._next("KeyPair"), name)

    def alarm(self, arn: str) -> cloudwatch.IAlarm:
        """Take a CloudWatch alarm."""
        return cloudwatch.Alarm.from_alarm_arn(self, self._next("Alarm"), arn)

    def security_group(self, security_group_id: str) -> ec2.ISecurityGroup:
        """Take a security group; rules that are added to it keep their ids whatever else is taken."""
        known = self.node.try_find_child(security_group_id)
        return cast(
            "ec2.ISecurityGroup",
            known or ec2.SecurityGroup.from_security_group_id(self, security_group_id, security_group_id),
        )

    def bucket(self, said: ExistingBucket | ExistingLogBucket) -> s3.IBucket:
        """Take a bucket."""
        key = self.key(said.key.key_arn) if isinstance(said, ExistingBucket) and said.key is not None else None
        return s3.Bucket.from_bucket_attributes(
            self, self._next("Bucket"), bucket_name=said.bucket_name, encryption_key=key
        )

    def policy(self, arn: str) -> iam.IManagedPolicy:
        """Take a managed policy."""
        return iam.ManagedPolicy.from_managed_policy_arn(self, self._next("Policy"), arn)

    def role(self, arn: str) -> iam.IRole:
        """Take an IAM role."""
        return iam.Role.from_role_arn(self, self._next("Role"), arn)

    def repository(self, name: str) -> "ecr.IRepository":
        """Take an ECR repository by its name in this account and Region, or by its ARN; ``*`` is any name."""
        from aws_cdk import aws_ecr as ecr  # noqa: PLC0415 a large module: only who names a repository waits for it

        arn = (
            name
            if name.startswith("arn:")
            else Stack.of(self).format_arn(service="ecr", resource="repository", resource_name=name)
        )
        return ecr.Repository.from_repository_attributes(
            self,
            self._next("Repository"),
            repository_arn=arn,
            repository_name=name.partition(":repository/")[-1] or name,
        )

    def certificate(self, arn: str) -> "acm.ICertificate":
        """Take a certificate of ACM."""
        from aws_cdk import aws_certificatemanager as acm  # noqa: PLC0415 only who names one waits for it

        return acm.Certificate.from_certificate_arn(self, self._next("Certificate"), arn)

    def topic(self, arn: str) -> sns.ITopic:
        """Take an SNS topic."""
        return sns.Topic.from_topic_arn(self, self._next("Topic"), arn)

    def secret(self, arn: str) -> secretsmanager.ISecret:
        """Take a secret."""
        return secretsmanager.Secret.from_secret_complete_arn(self, self._next("Secret"), arn)

    def subnet(self, section: SubnetSpec) -> ec2.ISubnet:
        """Take a subnet; nothing of a deployment file asks for its route table, of which CDK warns."""
        subnet = ec2.Subnet.from_subnet_attributes(
            self,
            self._next("Subnet"),
            subnet_id=section.subnet_id,
            availability_zone=section.zone,
            ipv4_cidr_block=section.cidr,
            route_table_id=section.route_table_id,
        )
        Annotations.of(subnet).acknowledge_warning("@aws-cdk/aws-ec2:noSubnetRouteTableId", "nothing is routed from it")
        return subnet

    def _next(self, word: str) -> str:
        return f"{word}{len(self.node.children)}"
