"""What constructors refuse, beside what the rules say of a specification, and what they warn of."""

from collections.abc import Callable
from typing import Any, cast

import pytest
from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.instances import catalogue_date
from cdk_trainyard.network import Nat, Network, TrainingNetwork
from cdk_trainyard.serving import (
    ClientAuthentication,
    NeuronNodeHealth,
    PromptWebAcl,
    Rollout,
    ScalingSchedule,
    ServiceMonitoring,
    ServiceScaling,
    TextGenerationEngine,
)
from tests.serving.parts import (
    JWT,
    REGION,
    SCHEDULES,
    certificate,
    load_balancer,
    model,
    network,
    new_stack,
    service,
    warnings,
)


def problems(build: Callable[[], object]) -> list[str]:
    with pytest.raises(ConfigurationError) as raised:
        build()
    return list(raised.value.problems)


@pytest.fixture(scope="module")
def around() -> Network:
    """A network for everything that is refused in it."""
    return network(new_stack())


def test_fails_with_what_kinds_and_rules_say_and_without_a_bucket(stack: Stack, around: Network) -> None:
    refused = model(preset="lama-3.1-8b", tensor_parallel=8)
    assert [text.split(" must")[0] for text in problems(lambda: service(stack, network=around, model=refused))] == [
        "'model.preset'",
        "'model.bucket' is missing: the bucket with the weights",
        "'model.tensor_parallel'",
    ]


def test_fails_a_certificate_of_another_region(stack: Stack) -> None:
    arn = "arn:aws:acm:us-east-1:111111111111:certificate/12345678-1234-1234-1234-123456789012"
    assert problems(lambda: load_balancer(stack, certificate=certificate(stack, arn))) == [
        f"'certificate' must be of Region us-west-2, got {arn!r}"
    ]


def test_fails_a_load_balancer_in_other_zones_than_its_tasks(stack: Stack) -> None:
    served = service(stack, network=network(stack, public=False))
    text = "'subnets' must be in us-west-2a and us-west-2b, where the tasks are, got none"
    assert problems(lambda: load_balancer(stack, served, public=True))[0].startswith(text)
    twice = [served.network.service_subnets[0]] * 2
    assert [
        text.partition(",")[0] for text in problems(lambda: load_balancer(Construct(stack, "B"), served, subnets=twice))
    ] == [
        "'subnets' must be in us-west-2b",
        "'subnets[1]' must be another than those of the subnets before it",
    ]


def test_fails_a_load_balancer_in_a_small_subnet(stack: Stack) -> None:
    subnets = [
        ec2.Subnet.from_subnet_attributes(
            stack, zone, subnet_id=f"subnet-0000000{zone[-1]}", availability_zone=zone, ipv4_cidr_block=block
        )
        for zone, block in {f"{REGION}a": "10.1.0.0/27", f"{REGION}b": "10.1.0.32/28"}.items()
    ]
    (found,) = problems(lambda: load_balancer(stack, subnets=subnets))
    assert found.startswith("'subnets[1]' must be a /27 or larger for a load balancer, got 10.1.0.32/28")


def test_fails_hosts_and_a_load_balancer_that_have_no_addresses(stack: Stack) -> None:
    small = TrainingNetwork(stack, "Small", zone="usw2-az1", cidr="10.1.0.0/21", service_zones=["usw2-az1", "usw2-az2"])
    says = "'subnets' must have 60 addresses for the service, got 54: 30 hosts take 60 with their tasks"
    assert problems(lambda: service(stack, network=small, tasks=30)) == [
        f"{says}; name more or larger subnets, or lower the tasks"
    ]
    served = service(Construct(stack, "Fewer"), network=small, tasks=20)
    (found,) = problems(lambda: load_balancer(stack, served))
    says = "'subnets' must have 56 addresses for the service, got 54: 20 hosts take 40 with their tasks, and a load"
    assert found.startswith(says)


def test_fails_where_neither_the_region_nor_the_vpc_is_known() -> None:
    stack = new_stack(region=None)
    served = service(stack, network=network(stack, cidr=None))
    assert problems(lambda: load_balancer(stack, served)) == [
        "'clients' must be given, as [10.0.0.0/16]: the addresses of the VPC are not known here",
        "the stack's Region must be given for the load balancer's access logs; use env=Environment(region=…)",
    ]


def test_fails_options_of_the_other_constructs(stack: Stack) -> None:
    served = load_balancer(stack)
    assert problems(lambda: PromptWebAcl(stack, "Acl", requests_per_address=1)) == [
        "'requests_per_address' must be 10 to 2000000000, got 1"
    ]
    given = {"service": served.node.scope.node.find_child("Serving"), "load_balancer": served}
    assert problems(lambda: ServiceMonitoring(stack, "Monitoring", latency_seconds=0, **cast("Any", given))) == [
        "'latency_seconds' must be more than 0, got 0"
    ]
    (said,) = problems(lambda: NeuronNodeHealth(stack, "H", service=given["service"], detector_image="a b"))
    assert said.startswith("'detector_image' must be an image with its registry")


def test_unchecked_turns_what_the_catalogue_and_the_arithmetic_say_into_warnings(stack: Stack) -> None:
    service(stack, engine=TextGenerationEngine.tgi(unchecked=True), host_image="20260820", of_model={"batch": 64})
    found = [text for text in warnings(stack) if "serving:unchecked" in text]
    assert len(found) == 2
    assert "nrt_init() fails" in found[0]
    assert "'batch' 48 or less" in found[1]


def test_what_is_not_in_the_catalogue_is_a_warning(stack: Stack) -> None:
    service(stack, engine=TextGenerationEngine.tgi(image="registry.example/tgi:9"), host_image="20270101")
    found = " ".join(text for text in warnings(stack) if "serving:unknown" in text)
    assert "engine image registry.example/tgi:9 is not in the catalogue" in found
    assert "2023.0.20270101-kernel-6.1-x86_64 is not in the catalogue" in found


def test_disputed_images_and_multiplied_heads_are_warnings(stack: Stack) -> None:
    service(
        stack,
        engine=TextGenerationEngine.neuron_vllm(image="neuron-vllm-0.16.0"),
        host_image="20260820",
        instance_type="inf2.24xlarge",
        of_model={"tensor_parallel": 12, "preset": "llama-3.1-8b"},
    )
    found = " ".join(warnings(stack))
    assert "sources contradict each other" in found
    assert "takes 36 heads instead of 8; inf2.8xlarge with 'tensor_parallel' 2 does without" in found


def test_bounds_that_leave_no_choice_are_a_warning(stack: Stack) -> None:
    served = network(stack)
    same = ScalingSchedule(name="same", schedule="cron(0 6 * * ? *)", min_tasks=3, max_tasks=3)
    service(stack, network=served, tasks=3, scaling=ServiceScaling(min_tasks=3, max_tasks=3, schedules=[same]))
    (text,) = warnings(stack)
    assert text.startswith("'scaling' with 'min_tasks' and 'max_tasks' 3 never changes the number of tasks: widen")
    scaling = ServiceScaling(min_tasks=1, max_tasks=1, schedules=SCHEDULES)
    service(Construct(stack, "Scheduled"), network=served, scaling=scaling, rollout=Rollout.SURGE)
    assert len(warnings(stack)) == 1


def test_choices_that_weaken_a_door_are_warnings(stack: Stack) -> None:
    load_balancer(stack, plain_http=True, authentication=ClientAuthentication.none())
    found = " ".join(warnings(stack))
    assert "serving:plain-http" in found
    assert "serving:no-authentication" in found
    assert JWT.claims


@pytest.mark.parametrize(
    ("region", "zones", "says"),
    [
        (
            "us-east-1",
            ["use1-az1", "use1-az2"],
            "inf2.xlarge is not known to be offered in use1-az1, only in use1-az2, ",
        ),
        ("ap-east-1", ["ape1-az1", "ape1-az2"], "inf2.xlarge is not known to be offered in ap-east-1, only in "),
    ],
)
def test_a_zone_that_is_not_known_to_have_inf2_is_a_warning_with_the_date(
    region: str, zones: list[str], says: str
) -> None:
    stack = new_stack(region=region)
    service(stack, network=TrainingNetwork(stack, "Network", zone=zones[0], service_zones=zones))
    (found,) = [text for text in warnings(stack) if "serving:zone-without-type" in text]
    assert says in found
    assert f"(data of {catalogue_date()})" in found


def test_hosts_in_the_accelerator_subnet_are_judged_by_its_zone() -> None:
    stack = new_stack(region="us-east-1")
    service(stack, network=TrainingNetwork(stack, "Network", zone="use1-az3"))
    assert any("not known to be offered in use1-az3" in text for text in warnings(stack))


def test_a_network_without_nat_is_a_warning(stack: Stack) -> None:
    service(stack, network=TrainingNetwork(stack, "Network", zone="us-west-2a", nat=Nat.NONE))
    (found,) = [text for text in warnings(stack) if "serving:no-way-out" in text]
    assert "they ask ECS (ecs, ecs-agent, ecs-telemetry), ECR" in found


def test_hosts_with_inf2_and_nat_give_no_advice(stack: Stack) -> None:
    zones = ["usw2-az1", "usw2-az2"]
    service(stack, network=TrainingNetwork(stack, "Network", zone="usw2-az4", service_zones=zones))
    assert [text for text in warnings(stack) if "cdk-trainyard" in text] == []
