"""What the reviewers' tools are asked about: what this room builds."""

from aws_cdk import RemovalPolicy

from cdk_trainyard.storage import (
    AccountingDatabase,
    BucketPurpose,
    DatabaseEngine,
    DataRepository,
    LustreDeployment,
    LustreFileSystem,
    LustreLogLevel,
    RootSquash,
    TrainingBucket,
    TrainingBuckets,
)
from tests.review.tools import Room

from .conftest import Place, make_place, service_network


def defaults(place: Place) -> None:
    TrainingBuckets(place.stack, "Buckets")
    LustreFileSystem(place.stack, "Lustre", network=place.network, security_group=place.security_group)


def everything(place: Place) -> None:
    buckets = TrainingBuckets(place.stack, "Buckets", auto_delete=True)
    for name in ("One", "Other"):
        LustreFileSystem(
            place.stack,
            name,
            network=place.network,
            security_group=place.security_group,
            key=buckets.key,
            root_squash=RootSquash(uid=365534, gid=65534),
            data_repositories=[
                DataRepository(file_system_path="/datasets", bucket=buckets.datasets),
                DataRepository(file_system_path="/checkpoints", bucket=buckets.checkpoints),
            ],
        )


def scratch_and_one_bucket(place: Place) -> None:
    TrainingBucket(place.stack, "Bucket", purpose=BucketPurpose.CHECKPOINTS)
    LustreFileSystem(
        place.stack,
        "Lustre",
        network=place.network,
        security_group=place.security_group,
        deployment=LustreDeployment.scratch_2(),
        log_level=LustreLogLevel.DISABLED,
    )


def databases(place: Place) -> None:
    network = service_network(place, "us-west-2a", "us-west-2b")
    key = TrainingBuckets(place.stack, "Buckets").key
    shared = AccountingDatabase(place.stack, "Shared", network=network)
    trial = AccountingDatabase(
        place.stack,
        "Trial",
        network=network,
        engine=DatabaseEngine.MARIADB,
        key=key,
        port=3307,
        require_tls=True,
        multi_az=False,
        deletion_protection=False,
        removal_policy=RemovalPolicy.DESTROY,
    )
    assert shared.password_secret is not trial.password_secret


ROOM = Room(make_place, [defaults, everything, scratch_and_one_bucket, databases])
