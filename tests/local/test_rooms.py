"""The rooms `fleet` and `serving`: deployed, changed, rolled back and destroyed, and nothing of them is ignored."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from cdk_trainyard import (
    FleetPlacement,
    Rollout,
    ScalingMetric,
    ScalingSchedule,
    ServiceScaling,
    TextGenerationEngine,
    UsageClass,
)
from cdk_trainyard.local import LocalAws
from tests.local.apps_of_rooms import REGION, Build, broken, fleet, service, synthesized, uploaded

_RESERVED: dict[str, Any] = {"instance_type": "p5.48xlarge", "reservation_id": "cr-0123456789abcdef1"}
_BLOCK: dict[str, Any] = {
    "instance_type": "p5.48xlarge",
    "capacity": UsageClass.CAPACITY_BLOCK,
    "reservation_id": "cr-0123456789abcdef0",
    "reserved_instances": 2,
}
_NIGHT = ScalingSchedule(name="Night", schedule="cron(0 20 ? * MON-FRI *)", min_tasks=0, max_tasks=0)
_DAY = ScalingSchedule(name="Day", schedule="cron(0 6 ? * MON-FRI *)", min_tasks=1, max_tasks=4)
_QUEUE = ServiceScaling(min_tasks=1, max_tasks=4, metric=ScalingMetric.QUEUE, schedules=[_NIGHT, _DAY])
_REQUESTS = ServiceScaling(min_tasks=2, max_tasks=3, metric=ScalingMetric.ALB_REQUESTS)
_LARGE: dict[str, Any] = {"preset": "llama-3.1-8b", "tensor_parallel": 8, "precompiled": False}
_WHOLE: dict[str, Any] = {"lustre": True, "master": "c5n.18xlarge", "topic": True}

CHAINS: dict[str, list[Build]] = {
    "a fleet with everything grows, and takes another image": [
        fleet(**_WHOLE),
        fleet(nodes=4, image="oss-nvidia-driver-gpu-pytorch-2.10-ubuntu-24.04", threads_per_core=1, **_WHOLE),
    ],
    "a fleet on a capacity block, then on a reservation": [
        fleet(**_BLOCK),
        fleet(**_RESERVED),
    ],
    "a range of nodes in the old layout, then several types on Spot": [
        fleet(min_count=1, max_count=4, interfaces="legacy", placement=FleetPlacement.ANYWHERE),
        fleet(
            instance_types=["p4d.24xlarge", "p4de.24xlarge"],
            capacity=UsageClass.SPOT,
            placement=FleetPlacement.ANYWHERE,
        ),
    ],
    "a fleet on an image that is built for it, and built anew": [
        fleet(instance_type="p3dn.24xlarge", built={"while_deploying": True}, master="c5n.18xlarge"),
        fleet(
            instance_type="p3dn.24xlarge",
            built={"while_deploying": True, "commands": ["true"]},
            master="c5n.18xlarge",
        ),
    ],
    "a fleet on an image that its pipeline builds later": [
        fleet(min_count=0, max_count=4, built={}, instance_type="p3dn.24xlarge", master="m5.large"),
        fleet(min_count=0, max_count=8, built={}, instance_type="p3dn.24xlarge", master="m5.large"),
    ],
    "a public door with tokens and a web ACL, then a key": [
        service(public=True, web_acl=True, encrypted=True, tasks=2),
        service(public=True, authentication="key", encrypted=True, tasks=4, prefix="models/other/"),
    ],
    "a plain door with a queue, then with requests": [
        service(authentication="key", plain_http=True, concurrency=True, scaling=_QUEUE, rollout=Rollout.SURGE),
        service(authentication="key", plain_http=True, scaling=_REQUESTS, rollout=Rollout.ROLLING, tasks=2),
    ],
    "another engine, and larger hosts": [
        service(engine=TextGenerationEngine.neuron_vllm(), instance_type="inf2.24xlarge", model=_LARGE),
        service(engine=TextGenerationEngine.neuron_vllm(), instance_type="inf2.48xlarge", model=_LARGE),
    ],
}


class _Cloud:
    """CloudFormation, with one stack at a time."""

    def __init__(self, aws: LocalAws) -> None:
        self.aws, self.client = aws, aws.client("cloudformation", REGION)
        self.stack = ""

    def deploy(self, body: dict[str, Any]) -> str:
        asked = {
            "StackName": self.stack or "rooms",
            "TemplateURL": uploaded(self.aws, body),
            "Capabilities": ["CAPABILITY_NAMED_IAM"],
        }
        operation = self.client.update_stack if self.stack else self.client.create_stack
        self.stack = str(operation(**asked)["StackId"])
        return self._settled()

    def destroy(self) -> str:
        self.client.delete_stack(StackName=self.stack)
        return self._settled()

    def resources(self) -> dict[str, str]:
        found = self.client.describe_stack_resources(StackName=self.stack)["StackResources"]
        return {row["LogicalResourceId"]: row["PhysicalResourceId"] for row in found}

    def complaints(self) -> list[str]:
        """Return what failed, and what the local AWS says that it ignores."""
        events = self.client.describe_stack_events(StackName=self.stack)["StackEvents"]
        reasons = {row["LogicalResourceId"]: row.get("ResourceStatusReason", "") for row in events[::-1]}
        failed = [row for row in events if row["ResourceStatus"].endswith("_FAILED")]
        ignored = [f"{name}: {reason}" for name, reason in reasons.items() if "local" in reason]
        return [*ignored, *(f"{row['LogicalResourceId']}: {row.get('ResourceStatusReason')}" for row in failed)]

    def _settled(self) -> str:
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline:
            status = str(self.client.describe_stacks(StackName=self.stack)["Stacks"][0]["StackStatus"])
            if not status.endswith("_IN_PROGRESS"):
                return status
            time.sleep(0.05)
        raise TimeoutError(status)


@pytest.fixture
def cloud(aws: LocalAws, bootstrapped: None) -> Iterator[_Cloud]:  # noqa: ARG001  it is deployed into it
    found = _Cloud(aws)
    yield found
    if found.stack:
        found.client.delete_stack(StackName=found.stack)


_LATER: dict[str, Any] = {"families": ["p4d"]}
_NOW: dict[str, Any] = {**_LATER, "while_deploying": True}


@pytest.mark.slow
def test_the_parameter_of_an_image_names_an_ami_that_is_there_and_goes_with_its_stack(cloud: _Cloud) -> None:
    own = cloud.aws.client("ec2", REGION).register_image(Name="own", Architecture="x86_64")["ImageId"]
    another = {**_LATER, "base": own, "nvidia_branch": None}
    builds = (fleet(min_count=0, max_count=2, built=built) for built in (_NOW, _LATER, another))
    now, later, other = (synthesized(cloud.aws, build, "Rooms") for build in builds)
    seen = []
    for body, becomes in (
        (broken(now), "ROLLBACK_COMPLETE"),
        (later, "CREATE_COMPLETE"),
        (broken(now), "UPDATE_ROLLBACK_COMPLETE"),
        (now, "UPDATE_COMPLETE"),
        (broken(later), "UPDATE_ROLLBACK_COMPLETE"),
        (later, "UPDATE_COMPLETE"),
        (other, "UPDATE_COMPLETE"),
    ):
        assert cloud.deploy(body) == becomes, cloud.complaints()
        seen.append(_images_of_parameters(cloud.aws))
        if becomes == "ROLLBACK_COMPLETE":
            cloud.destroy()
            cloud.stack = ""
    assert [len(each) for each in seen] == [0, *[1] * 6]
    assert seen[-1] == [own]
    assert cloud.destroy() == "DELETE_COMPLETE", cloud.complaints()
    assert _images_of_parameters(cloud.aws) == []


def _images_of_parameters(aws: LocalAws) -> list[str]:
    """Return the AMIs that parameters of images name, all of which are there."""
    ssm = aws.client("ssm", REGION)
    below = ssm.get_parameters_by_path(Path="/imagebuilder", Recursive=True)["Parameters"]
    named = [str(row["Value"]) for row in below]
    assert len(aws.client("ec2", REGION).describe_images(ImageIds=named)["Images"] if named else []) == len(named)
    return named


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAINS)
def test_deployed_changed_rolled_back_and_destroyed(cloud: _Cloud, name: str) -> None:
    first, second = (synthesized(cloud.aws, build, "Rooms") for build in CHAINS[name])
    assert cloud.deploy(first) == "CREATE_COMPLETE", cloud.complaints()
    before = cloud.resources()
    assert cloud.deploy(broken(second)) == "UPDATE_ROLLBACK_COMPLETE"
    failed = cloud.complaints()
    assert [" ".join(complaint.split()[:1]) for complaint in failed] == ["Broken:"], failed
    assert cloud.resources() == before
    assert cloud.deploy(second) == "UPDATE_COMPLETE", cloud.complaints()
    assert cloud.complaints() == failed
    assert cloud.destroy() == "DELETE_COMPLETE", cloud.complaints()
