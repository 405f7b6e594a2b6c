"""Buckets of a training environment: scripts, datasets, checkpoints, models, and the log of who used them."""

from functools import cached_property
from typing import cast

from aws_cdk import Annotations, Aws, CfnResource, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct, IConstruct

from cdk_trainyard.acknowledgments import acknowledge, main_resource
from cdk_trainyard.errors import raise_problems
from cdk_trainyard.names import Naming, named
from cdk_trainyard.options.judging import Judge, given
from cdk_trainyard.retention import KEPT
from cdk_trainyard.storage.bucket_lifecycle import lifecycle_rules, retention
from cdk_trainyard.storage.bucket_purpose import BucketPurpose
from cdk_trainyard.storage.grants import BucketGrants
from cdk_trainyard.storage.rules_data import bucket_problems, buckets_problems
from cdk_trainyard.storage.spec import BucketSpec, BucketsSpec
from cdk_trainyard.surroundings import surroundings

_REASONS = {
    "NIST.800.53.R5-S3BucketReplicationEnabled": (
        "training data stays where it is trained on: S3 keeps it in three zones, versions guard against deletion, "
        "and a copy in a second region would double its cost"
    )
}
_LOG_REASONS = {
    "NIST.800.53.R5-S3DefaultEncryptionKMS": (
        "S3 delivers access logs only to buckets under its own encryption (SSE-S3)"
    ),
    **dict.fromkeys(
        ("NIST.800.53.R5-S3BucketVersioningEnabled", "CKV_AWS_21"),
        "access logs are written once by S3 and read; nothing overwrites them",
    ),
    "CKV_AWS_18": "this is the bucket that the others log to; logging it to itself would never end",
}
_EMPTIER_REASONS = {
    "CKV_AWS_115": "runs once for each bucket, when its stack is deleted",
    "CKV_AWS_116": "CloudFormation waits for its answer; a failure fails the deletion",
    "CKV_AWS_117": "empties buckets over TLS; reaches nothing in the VPC",
    "W3005": "CDK writes the order beside the reference; both are right",
}


def goes_before_emptying(construct: IConstruct, bucket: s3.IBucket) -> None:
    """Let a construct be deleted before a bucket is emptied that goes with all it holds.

    Args:
        construct: What the emptying would reach, too.
        bucket: The bucket.
    """
    if emptier := bucket.node.try_find_child("AutoDeleteObjectsCustomResource"):
        construct.node.add_dependency(emptier)


class TrainingBucket(Construct):
    """A bucket for one purpose: closed, TLS 1.2 only, encrypted, logged, versioned where it matters, aging by rule.

    Args:
        scope: Where it is defined.
        construct_id: Its id; another id is another bucket.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        purpose: What it holds; versions and lifecycle rules follow from it.
        bucket_name: Its name, which nobody else in the partition may have; another name is another bucket.
            Default - CloudFormation makes one up.
        key: The KMS key it is encrypted with.
            Default - one of its own, rotated every year. ``ACCESS_LOGS`` uses S3's own encryption.
        access_logs: The bucket that its access log goes to, under the prefix of its purpose.
            Default - one of its own. ``ACCESS_LOGS`` is not logged.
        expire_after_days: The age at which objects expire, in days: in ``CHECKPOINTS`` those under ``runs/`` or tagged
            ``trainyard-retention=expire``, in ``ACCESS_LOGS`` all.
            Default - checkpoints 30 days, access logs 365; other purposes keep everything.
        auto_delete: Whether the bucket goes with all it holds, and a key made here, when it leaves the stack; otherwise
            both are retained.
            Default: False.

    Attributes:
        purpose: What it holds.
        bucket: The bucket.
        key: What it is encrypted with. None: S3's own encryption.
        grants: Verbs that let somebody read or write it.

    Raises:
        ConfigurationError: When something is given that the purpose does not take, or the key is in another region.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        names: Naming | None = None,
        purpose: BucketPurpose,
        bucket_name: str | None = None,
        key: kms.IKey | None = None,
        access_logs: s3.IBucket | None = None,
        expire_after_days: int | None = None,
        auto_delete: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(BucketSpec, locals()))
        raise_problems(self, [*judge.problems, *bucket_problems(spec)])
        is_log = purpose is BucketPurpose.ACCESS_LOGS
        self.purpose = purpose
        self.key = None if is_log else key or training_key(self, "Key", auto_delete=auto_delete)
        # before the bucket: CDK names the first bucket that it empties in what the log's emptier is
        log = None if is_log else access_logs or self._own_log(auto_delete=auto_delete)
        self.bucket: s3.IBucket = self._define(bucket_name, expire_after_days, auto_delete=auto_delete)
        self.node.default_child = self._resource
        self.grants = BucketGrants(self.bucket)
        if log is not None:
            self._log_to(log)
        self._acknowledge()
        if auto_delete:
            self._acknowledge_emptier()

    @property
    def bucket_name(self) -> str:
        """Its name; a Token, unless ``bucket_name`` was given."""
        return self.bucket.bucket_name

    @property
    def bucket_arn(self) -> str:
        """Its ARN."""
        return self.bucket.bucket_arn

    @cached_property
    def _resource(self) -> s3.CfnBucket:
        return cast("s3.CfnBucket", main_resource(self.bucket))

    def _define(self, bucket_name: str | None, expire_after_days: int | None, *, auto_delete: bool) -> s3.Bucket:
        removal_policy = RemovalPolicy.DESTROY if auto_delete else retention(self.purpose)
        bucket = s3.Bucket(
            self,
            "Resource",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            encryption=s3.BucketEncryption.S3_MANAGED if self.key is None else s3.BucketEncryption.KMS,
            encryption_key=self.key,
            bucket_name=bucket_name,
            bucket_key_enabled=None if self.key is None else True,
            versioned=self.purpose.policy.noncurrent_days is not None,
            lifecycle_rules=lifecycle_rules(self.purpose, expire_after_days=expire_after_days),
            removal_policy=removal_policy,
            auto_delete_objects=auto_delete,
        )
        if policy := bucket.policy:  # a retained bucket stays as closed as it was
            policy.apply_removal_policy(removal_policy)
        return bucket

    def _own_log(self, *, auto_delete: bool) -> s3.IBucket:
        return TrainingBucket(self, "AccessLogs", purpose=BucketPurpose.ACCESS_LOGS, auto_delete=auto_delete).bucket

    def _log_to(self, access_logs: s3.IBucket) -> None:
        """Write the access log, by a bucket policy: CDK's own way depends on a feature flag of the user's app."""
        prefix = f"{self.purpose.value}/"
        self._resource.logging_configuration = s3.CfnBucket.LoggingConfigurationProperty(
            destination_bucket_name=access_logs.bucket_name, log_file_prefix=prefix
        )
        delivery = iam.PolicyStatement(
            sid=f"Log{self.purpose.name.title().replace('_', '')}",
            principals=[iam.ServicePrincipal("logging.s3.amazonaws.com")],
            actions=["s3:PutObject"],
            resources=[access_logs.arn_for_objects(f"{prefix}*")],
            conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
        )
        if not access_logs.add_to_resource_policy(delivery).statement_added:
            Annotations.of(self).add_warning_v2(
                "@cdk-trainyard/storage:access-logs-policy",
                f"the policy of the access log bucket cannot be changed from here ({access_logs.node.path}): "
                f"let logging.s3.amazonaws.com put objects under {prefix}, or nothing is logged",
            )
        # emptying this bucket is logged too: the log is emptied after it, and made before it
        goes_before_emptying(self.bucket, access_logs)

    def _acknowledge(self) -> None:
        of_logs = _LOG_REASONS if self.purpose is BucketPurpose.ACCESS_LOGS else {}
        acknowledge(self._resource, {**_REASONS, **of_logs})

    def _acknowledge_emptier(self) -> None:
        """Explain the one function with which CDK empties every bucket of a stack that is deleted with its content."""
        provider = Stack.of(self).node.try_find_child("Custom::S3AutoDeleteObjectsCustomResourceProvider")
        handler = provider.node.try_find_child("Handler") if provider else None
        if not isinstance(handler, CfnResource) or handler.get_metadata("checkov"):
            return
        acknowledge(handler, _EMPTIER_REASONS)


class TrainingBuckets(Construct):
    """The buckets of a training environment: made here, or the user's own, under one key and with one access log.

    Args:
        scope: Where they are defined.
        construct_id: Their id; another id is other buckets.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
        scripts: An existing bucket of lifecycle scripts, which root runs on the nodes.
            Default - one is made, and kept unless ``auto_delete`` is true.
        datasets: An existing bucket of training data. Default - one is made, and kept unless ``auto_delete`` is true.
        checkpoints: An existing bucket of checkpoints. Default - one is made, and kept unless ``auto_delete`` is true.
        models: An existing bucket of trained models. Default - one is made, and kept unless ``auto_delete`` is true.
        access_logs: An existing bucket for the access logs of those made here.
            Default - one is made, and kept unless ``auto_delete`` is true.
        key: KMS key of those made here; with another one later, what was written before cannot be read.
            Default - one is made, rotated every year.
        checkpoint_days: The age at which checkpoints expire that are under ``runs/`` or tagged for it, in days.
            Default - 30 days.
        auto_delete: Whether what is made here goes, with all it holds, when the deployment goes; otherwise it is
            retained.
            Default: False.

    Attributes:
        scripts: The bucket of lifecycle scripts.
        datasets: The bucket of training data.
        checkpoints: The bucket of checkpoints.
        models: The bucket of trained models.
        access_logs: The bucket of their access logs. None: nothing was made, so nothing is logged there.
        key: What those made here are encrypted with. None: nothing was made.

    Raises:
        ConfigurationError: When the key is in another region, or the age no age.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        names: Naming | None = None,
        scripts: s3.IBucket | None = None,
        datasets: s3.IBucket | None = None,
        checkpoints: s3.IBucket | None = None,
        models: s3.IBucket | None = None,
        access_logs: s3.IBucket | None = None,
        key: kms.IKey | None = None,
        checkpoint_days: int | None = None,
        auto_delete: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        judge = Judge(environment=surroundings(self))
        spec = judge.judged(given(BucketsSpec, locals()))
        raise_problems(self, [*judge.problems, *buckets_problems(spec)])
        self._auto_delete = auto_delete
        complete = None not in {scripts, datasets, checkpoints, models}
        self.key = key if key is not None or complete else training_key(self, "Key", auto_delete=auto_delete)
        self.access_logs = access_logs
        if access_logs is None and not complete:
            self.access_logs = self._make("AccessLogs", BucketPurpose.ACCESS_LOGS)
        self.scripts = scripts or self._make("Scripts", BucketPurpose.SCRIPTS)
        self.datasets = datasets or self._make("Datasets", BucketPurpose.DATASETS)
        self.checkpoints = checkpoints or self._make("Checkpoints", BucketPurpose.CHECKPOINTS, checkpoint_days)
        self.models = models or self._make("Models", BucketPurpose.MODELS)

    def _make(self, construct_id: str, purpose: BucketPurpose, expire_after_days: int | None = None) -> s3.IBucket:
        is_log = purpose is BucketPurpose.ACCESS_LOGS
        return TrainingBucket(
            self,
            construct_id,
            purpose=purpose,
            key=None if is_log else self.key,
            access_logs=None if is_log else self.access_logs,
            expire_after_days=expire_after_days,
            auto_delete=self._auto_delete,
        ).bucket


def training_key(scope: Construct, construct_id: str, *, auto_delete: bool) -> kms.Key:
    """Define a key for training data: rotated every year, and retained unless its data is deleted too."""
    return kms.Key(
        scope,
        construct_id,
        description="Training data: scripts, datasets, checkpoints and models",
        enable_key_rotation=True,
        removal_policy=RemovalPolicy.DESTROY if auto_delete else KEPT,
    )
