"""The reviewers' rule packs find nothing here that is not explained, and no explanation is idle."""

from pathlib import Path

import pytest
from aws_cdk import App

from cdk_trainyard.review import attach_checks, unmatched_acknowledgments
from cdk_trainyard.storage import (
    BucketPurpose,
    DataRepository,
    LustreDeployment,
    LustreFileSystem,
    LustreLogLevel,
    RootSquash,
    TrainingBucket,
    TrainingBuckets,
)

from .conftest import Place, make_place


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


@pytest.mark.parametrize("build", [defaults, everything, scratch_and_one_bucket])
def test_no_finding_is_unexplained_and_no_explanation_idle(build: object, tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    attach_checks(app)
    assert callable(build)
    build(make_place(app))
    app.synth()
    assert unmatched_acknowledgments(app, tmp_path) == []
