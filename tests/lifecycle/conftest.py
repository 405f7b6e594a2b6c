"""Folders, buckets and settings for the tests of this room."""

from pathlib import Path

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_s3 as s3

from cdk_trainyard.lifecycle import GroupRole, NodeGroup, NodeSettings
from tests.support import STAGED

ENTRY = "#!/bin/bash\nexec >>/var/log/provision/provisioning.log\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound folder of somebody's own scripts."""
    made = tmp_path / "scripts"
    (made / "lib").mkdir(parents=True)
    (made / "on_create.sh").write_text(ENTRY)
    (made / "on_create.sh").chmod(0o755)
    (made / "lib" / "helper.sh").write_text("true\n")
    return made


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    app = App(outdir=str(tmp_path / "cdk.out"), post_cli_context=STAGED)
    return Stack(app, "Stack", env=Environment(account="111111111111", region="us-west-2"))


@pytest.fixture
def bucket(stack: Stack) -> s3.IBucket:
    return s3.Bucket.from_bucket_name(stack, "Bucket", "sagemaker-scripts")


@pytest.fixture(scope="session")
def settings() -> NodeSettings:
    return NodeSettings(
        groups=[
            NodeGroup(name="controller", role=GroupRole.CONTROLLER, instance_types=["ml.m5.large"]),
            NodeGroup(name="worker", role=GroupRole.COMPUTE, instance_types=["ml.trn1.32xlarge"]),
        ]
    )
