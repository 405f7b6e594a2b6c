"""The reviewers' rule packs find nothing here that is not explained, and no explanation is idle."""

import pytest
from aws_cdk import RemovalPolicy

from cdk_trainyard.storage import (
    AccountingDatabase,
    BucketPurpose,
    DataRepository,
    LustreDeployment,
    LustreFileSystem,
    LustreLogLevel,
    RootSquash,
    TrainingBucket,
    TrainingBuckets,
)
from tests.review.tools import Review

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
        key=key,
        port=3307,
        require_tls=True,
        multi_az=False,
        deletion_protection=False,
        removal_policy=RemovalPolicy.DESTROY,
    )
    assert shared.password_secret is not trial.password_secret


BUILDS = {build.__name__: build for build in (defaults, everything, scratch_and_one_bucket, databases)}


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> Review[Place]:
    return Review(BUILDS, make_place, tmp_path_factory.mktemp("review"))


@pytest.mark.review
@pytest.mark.parametrize("name", BUILDS)
def test_no_finding_is_unexplained_and_no_explanation_idle(review: Review[Place], name: str) -> None:
    assert review.open_findings(name) == []
