"""A stack of things that other stacks need, in the local AWS that all tests of a process share.

What modules need is made when it is not there: another module may have emptied the local AWS.
"""

import json
from collections.abc import Iterator

import pytest

from cdk_trainyard.local import LocalAws
from tests.local.stacks import Stacks, stack_names
from tests.local.support import FILES, SUPPORT


@pytest.fixture(scope="module")
def support(aws: LocalAws) -> None:
    """Deploy the stack ``support``: a network, a role, a bucket with files … for other stacks to import."""
    if "support" in stack_names(aws.client("cloudformation")):
        return
    made = Stacks(aws).client.create_stack(StackName="support", TemplateBody=json.dumps(SUPPORT))
    stack = Stacks(aws).client.describe_stacks(StackName=made["StackId"])["Stacks"][0]
    assert stack["StackStatus"] == "CREATE_COMPLETE", Stacks(aws).reasons("support")
    bucket = next(row["OutputValue"] for row in stack["Outputs"] if row["OutputKey"] == "Bucket")
    for key, body in FILES.items():
        aws.client("s3").put_object(Bucket=bucket, Key=key, Body=body)


@pytest.fixture(scope="module")
def bootstrapped(aws: LocalAws) -> None:
    """Bootstrap the region of the rooms' apps, which need the rest of CDK to be imported."""
    from tests.local.apps_of_rooms import bootstrap  # noqa: PLC0415  other tests need no CDK

    bootstrap(aws)


@pytest.fixture
def stacks(aws: LocalAws) -> Iterator[Stacks]:
    """Deploys templates; what a test leaves behind is deleted."""
    found = Stacks(aws)
    yield found
    found.clean_up()
