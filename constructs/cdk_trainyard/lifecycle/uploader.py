"""What copies checked folders into buckets: one function for a stack, with a role that can do nothing else."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from aws_cdk import CfnResource, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as assets
from aws_cdk import aws_s3_deployment as deployment
from constructs import Construct

from cdk_trainyard.acknowledgments import Wildcards, acknowledge, main_resource
from cdk_trainyard.lifecycle.bundle import Bundle
from cdk_trainyard.log_groups import acknowledge_logs_own_key

ROOT_PREFIX = "lifecycle-scripts"
"""Where folders of scripts stand in a bucket, each under its hash."""
HASH_LENGTH = 32
"""Digits of the hash in a folder's name, 128 bits: short enough for people, long enough never to meet twice."""
FAMILY_LENGTH = 50
"""Most that may stand between both: with slashes 101, and BucketDeployment takes at most 102, whatever it says."""

_ID = "LifecycleScriptsUploader"
# CDK shares one function between all bucket deployments of a stack that ask for the same memory. An unusual size keeps
# this one, whose role cannot be widened, apart from the app's own.
_MEMORY_MIB = 513

_FUNCTION_REASONS = {
    "AwsSolutions-L1": "CDK's BucketDeployment sets the runtime of its own function, and renews it with its releases",
    "NIST.800.53.R5-LambdaConcurrency": (
        "runs during deployments only, once for each folder of scripts; reserving concurrency takes it from others"
    ),
    "NIST.800.53.R5-LambdaDLQ": (
        "CloudFormation calls it and waits for its answer: a failure fails the deployment, there is nothing to requeue"
    ),
    "NIST.800.53.R5-LambdaInsideVPC": (
        "copies between two buckets over TLS, and has to reach CloudFormation's answer address: nothing in the VPC"
    ),
    "CKV_AWS_115": "runs during deployments only, once for each folder of scripts",
    "CKV_AWS_116": "CloudFormation waits for its answer; a failure fails the deployment",
    "CKV_AWS_117": "copies between two buckets over TLS; reaches nothing in the VPC",
    "CKV_AWS_173": "its one variable is the path of the certificates that its own image brings",
    "W3005": "CDK makes every function wait for its role beside referring to it; both are right",
}
_WRITE_REASON = "writes folders of scripts, each under its hash, and reads none of them"
_READ_REASON = "reads the scripts from where the CDK CLI has put them, under hashes that change with every edit"
_LOGS_REASON = "says which public file names were copied where; holds neither their content nor secrets"


class Uploader(Construct):
    """The parts that all folders of a stack share: log group, role, permissions.

    CDK's ``BucketDeployment`` does the work. What it would decide by itself is decided here: it would get read and
    write access to both whole buckets, an inline policy, and a log group without retention; and it would tag the
    destination bucket, which may stand in another stack that then changes with every edit of a script.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self._logs = logs.LogGroup(
            self, "Logs", retention=logs.RetentionDays.THREE_MONTHS, removal_policy=RemovalPolicy.DESTROY
        )
        log = iam.PolicyStatement(
            actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[self._logs.log_group_arn]
        )
        self._policy = iam.ManagedPolicy(
            self, "Policy", description="Copies lifecycle scripts, and logs that it did", statements=[log]
        )
        self._wildcards = Wildcards(main_resource(self._policy))
        self._role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        self._role.add_managed_policy(self._policy)
        acknowledge_logs_own_key(self._logs, _LOGS_REASON)
        self._function_is_acknowledged = False

    @classmethod
    def of(cls, scope: Construct) -> Self:
        """Return the uploader of the stack that ``scope`` is in, and define it there when it is the first to ask."""
        stack = Stack.of(scope)
        found = stack.node.try_find_child(_ID)
        return found if isinstance(found, cls) else cls(stack, _ID)

    def upload(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: s3.IBucket,
        prefix: str,
        bundle: Bundle,
        data: Sequence[deployment.ISource] = (),
    ) -> Construct:
        """Copy files to ``prefix`` of ``bucket``; nothing is ever removed there.

        Args:
            scope: Where the deployment is defined.
            construct_id: Its id.
            bucket: The destination.
            prefix: Where in it, below ``ROOT_PREFIX``.
            bundle: The files.
            data: Files beside them whose text holds Tokens. Default - none.

        Returns:
            What to depend on: when it exists, the files are there.
        """
        target = s3.Bucket.from_bucket_attributes(
            scope, "Destination", bucket_arn=bucket.bucket_arn, bucket_name=bucket.bucket_name
        )
        with TemporaryDirectory() as directory:
            # CDK stages what is here as it is: the checked bytes, nothing that was ignored, the same modes everywhere
            bundle.write(Path(directory))
            files = deployment.Source.asset(directory, asset_hash=bundle.digest())
            done = deployment.BucketDeployment(
                scope,
                construct_id,
                destination_bucket=target,
                destination_key_prefix=prefix,
                sources=[files, *data],
                prune=False,
                retain_on_delete=True,
                output_object_keys=False,
                memory_limit=_MEMORY_MIB,
                log_group=self._logs,
                role=self._role.without_policy_updates(),
            )
        if Stack.of(bucket).node.addr == Stack.of(scope).node.addr:
            done.node.add_dependency(bucket)
        self._allow_upload(bucket, next(child for child in done.node.children if isinstance(child, assets.Asset)))
        self._acknowledge_function(done)
        return done

    def _allow_upload(self, bucket: s3.IBucket, staged: assets.Asset) -> None:
        # The same permissions for every version of the scripts. Ones that named the hash would change with every edit,
        # moments before they are used; and a changed policy takes effect with a delay: deployments would fail by chance
        written = bucket.arn_for_objects(f"{ROOT_PREFIX}/*")
        read = staged.bucket.arn_for_objects("*.zip")
        listed = {"StringLike": {"s3:prefix": f"{ROOT_PREFIX}/*"}}
        statements = [
            iam.PolicyStatement(actions=["s3:GetObject"], resources=[read]),
            iam.PolicyStatement(actions=["s3:PutObject"], resources=[written]),
            iam.PolicyStatement(actions=["s3:ListBucket"], resources=[bucket.bucket_arn], conditions=listed),
        ]
        if key := bucket.encryption_key:
            statements.append(iam.PolicyStatement(actions=["kms:GenerateDataKey"], resources=[key.key_arn]))
        self._policy.add_statements(*statements)
        self._wildcards.acknowledge(_WRITE_REASON, written)
        self._wildcards.acknowledge(_READ_REASON, read)

    def _acknowledge_function(self, done: deployment.BucketDeployment) -> None:
        if self._function_is_acknowledged:
            return
        self._function_is_acknowledged = True
        handler = next(child for child in done.node.children if isinstance(child, lambda_.SingletonFunction))
        function = handler.permissions_node.default_child
        if not isinstance(function, CfnResource):
            raise TypeError(f"{handler.node.path} has no function")
        acknowledge(function, _FUNCTION_REASONS)
