"""What is refused, in which words."""

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import Duration, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.instances import catalogue_date
from cdk_trainyard.network import Nat, Network, TrainingNetwork
from cdk_trainyard.serving import (
    DoorAuthentication,
    InferenceService,
    JwtClaim,
    ModelShape,
    NeuronDtype,
    PromptWebAcl,
    Rollout,
    ScalingMetric,
    ScalingSchedule,
    ServiceScaling,
    TextGenerationEngine,
)
from tests.serving.parts import JWT, certificate, door, network, new_stack, service, warnings

NIGHT = ScalingSchedule(name="Night", schedule="cron(0 20 ? * MON-FRI *)", min_tasks=0, max_tasks=0)
TOKEN = "token"  # noqa: S105  not a secret: the point of the test is that it is refused


def problems(build: Callable[[], object]) -> list[str]:
    with pytest.raises(ConfigurationError) as raised:
        build()
    return list(raised.value.problems)


@pytest.fixture(scope="module")
def around() -> Network:
    """A network for everything that is refused in it."""
    return network(new_stack())


@pytest.fixture
def place(around: Network) -> Construct:
    """Where a test defines what is refused."""
    return Construct(around, f"Place{len(around.node.children)}")


SERVICES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "tensor_parallel 3": (
        {"of_model": {"tensor_parallel": 3}},
        ["'tensor_parallel' must be 1, 2, 4, 8, 12 or 24 on inf2, got 3; use 2 or 4"],
    ),
    "inf2.xlarge with tensor_parallel 8": (
        {"of_model": {"tensor_parallel": 8}},
        ["'tensor_parallel' must be at most 2 on inf2.xlarge (2 NeuronCores), got 8; use 2, or inf2.24xlarge"],
    ),
    "batch 0": (
        {"of_model": {"batch": 0}},
        ["'batch' must be 1 or more, got 0; use what the model was compiled with"],
    ),
    "sequence length 0": (
        {"of_model": {"sequence_length": 0}},
        ["'sequence_length' must be 1 or more, got 0; use what the model was compiled with"],
    ),
    "prompt as long as the sequence": (
        {"of_model": {"max_input_tokens": 4096}},
        ["'max_input_tokens' must be 1 to 4095, less than 'sequence_length', got 4096"],
    ),
    "batch that does not fit": (
        {"of_model": {"batch": 64}},
        [
            (
                "'model' must fit the NeuronCores: llama-3.2-3b with 'tensor_parallel' 2 takes 2.99 GiB of weights + "
                "64 x 0.219 GiB of KV cache = 16.99 GiB per core, of 13.6 GiB (85% of 16 GiB); "
                "use 'batch' 48 or less, or inf2.24xlarge with 'tensor_parallel' 4"
            )
        ],
    ),
    "model that does not fit": (
        {"of_model": {"preset": "llama-3.3-70b", "batch": 1}, "instance_type": "inf2.8xlarge"},
        [
            (
                "'model' must fit the NeuronCores: llama-3.3-70b with 'tensor_parallel' 2 takes 65.70 GiB of weights + "
                "1 x 0.625 GiB of KV cache = 66.33 GiB per core, of 13.6 GiB (85% of 16 GiB); "
                "use inf2.48xlarge with 'tensor_parallel' 24"
            ),
            (
                "'instance_type' must have memory for llama-3.3-70b beside its devices: 131.4 GiB of weights + 4 GiB "
                "for "
                "system and engine = 135.4 GiB, got inf2.8xlarge with 121.6 GiB; use inf2.48xlarge, or store it in "
                "pieces "
                "per core and say 'presharded'"
            ),
        ],
    ),
    "model that the host cannot load": (
        {"of_model": {"preset": "llama-3.1-8b"}},
        [
            (
                "'instance_type' must have memory for llama-3.1-8b beside its devices: 15.0 GiB of weights + 4 GiB for "
                "system and engine = 19.0 GiB, got inf2.xlarge with 15.2 GiB; use inf2.8xlarge, or store it in "
                "pieces per "
                "core and say 'presharded'"
            )
        ],
    ),
    "model that the host cannot compile": (
        {"of_model": {"precompiled": False}},
        [
            (
                "'instance_type' must have memory for llama-3.2-3b beside its devices: 3 x 6.0 GiB of weights to "
                "compile + "
                "4 GiB for system and engine = 21.9 GiB, got inf2.xlarge with 15.2 GiB; use inf2.8xlarge, or compile "
                "it "
                "elsewhere and say 'precompiled'"
            )
        ],
    ),
    "no prefix": (
        {"of_model": {"prefix": "/"}},
        ["'prefix' must name the folder of the model in the bucket, got '/'; hosts may read nothing else"],
    ),
    "prefix with a space": (
        {"of_model": {"prefix": "my models"}},
        [
            (
                "'prefix' must be letters, digits and any of !_.()=-/ with single slashes, got 'my models'; "
                "it stands in a line of /etc/fstab"
            )
        ],
    ),
    "name with a space": (
        {"of_model": {"name": "my llama"}},
        [
            (
                "'name' of the model must be 1 to 100 letters, digits, '.', '_', '/' or '-', got 'my llama'; "
                "clients ask for the model by it"
            )
        ],
    ),
    "eight bits with tgi": (
        {"of_model": {"dtype": NeuronDtype.FP8}},
        ["'dtype' must be bf16 or fp16 for tgi, got fp8; use bf16, or the engine neuron_vllm"],
    ),
    "shards that are not compiled": (
        {"of_model": {"presharded": True, "precompiled": False}, "instance_type": "inf2.8xlarge"},
        ["'presharded' must come with 'precompiled': compiling starts from the whole weights; leave one out"],
    ),
    "shape without layers": (
        {
            "of_model": {
                "shape": ModelShape(
                    name="own", parameters=1e9, layers=0, attention_heads=8, key_value_heads=8, head_dimension=64
                )
            }
        },
        ["'layers' of the model's shape must be more than 0, got 0"],
    ),
    "shape with odd groups": (
        {
            "of_model": {
                "shape": ModelShape(
                    name="own", parameters=1e9, layers=8, attention_heads=9, key_value_heads=8, head_dimension=64
                )
            }
        },
        [
            (
                "'attention_heads' must be a multiple of 'key_value_heads', got 9 and 8; config.json calls them "
                "num_attention_heads and num_key_value_heads"
            )
        ],
    ),
    "tgi with a new driver": (
        {"host_image": "20260820"},
        [
            (
                "'host_image' must carry a driver that runtime library 2.26.42 of tgi-3.3.7 works with, got 20260820 "
                "with "
                "driver 2.30.2: driver 2.29 and later need runtime library 2.33 or later, or nrt_init() fails; use "
                "20260701"
            )
        ],
    ),
    "trn2 image on inf2": (
        {"engine": TextGenerationEngine.neuron_vllm(image="neuron-vllm-0.24.0"), "host_image": "20260820"},
        [
            (
                "'image' must run on inf2, got neuron-vllm-0.24.0 for trn2, trn3; use neuron-vllm-0.9.1, "
                "neuron-vllm-0.11.0, neuron-vllm-0.13.0"
            )
        ],
    ),
    "misspelt image": (
        {"engine": TextGenerationEngine.tgi(image="tgi-3.3.8")},
        [
            (
                "'image' must be tgi-3.3.5, tgi-3.3.6, tgi-3.3.7, tgi-dlc-3.3.6 or a reference with its registry, got "
                "'tgi-3.3.8'; did you mean 'tgi-3.3.7' or 'tgi-3.3.6' or 'tgi-3.3.5'?"
            )
        ],
    ),
    "secret as text": (
        {"engine": TextGenerationEngine.tgi(environment={"HF_TOKEN": TOKEN})},
        ["'environment' must not hold HF_TOKEN: it would stand in the template; use hub_token"],
    ),
    "trn1": (
        {"instance_type": "trn1.2xlarge"},
        [
            (
                "'instance_type' must be an inf2 type, got trn1.2xlarge; use inf2.xlarge, inf2.8xlarge, inf2.24xlarge, "
                "inf2.48xlarge"
            )
        ],
    ),
    "tasks above their bounds": (
        {"tasks": 5, "scaling": ServiceScaling(min_tasks=1, max_tasks=4)},
        ["'tasks' must be between 'min_tasks' 1 and 'max_tasks' 4 of 'scaling', got 5; use 4, or widen the bounds"],
    ),
    "fewer hosts than tasks": (
        {"tasks": 3, "max_hosts": 2},
        ["'max_hosts' must be 3 or more, one for each task, got 2; raise it, or lower the tasks"],
    ),
    "surge without hosts": (
        {"tasks": 2, "max_hosts": 3, "rollout": Rollout.SURGE},
        ["'max_hosts' must be 4 or more for 'rollout' surge of 2 tasks, got 3; raise it, or use 'rollout' rolling"],
    ),
    "rolling a single task": (
        {"rollout": Rollout.ROLLING},
        [
            (
                "'rollout' rolling must have 2 tasks or more, got 1: there is no host for the new task while the old "
                "one "
                "runs; use recreate or surge"
            )
        ],
    ),
    "scale to zero with a metric of the load balancer": (
        {"scaling": ServiceScaling(min_tasks=0, max_tasks=2, metric=ScalingMetric.ALB_REQUESTS)},
        [
            (
                "'min_tasks' must be 1 or more with metric alb_requests, got 0: without a task the load balancer "
                "counts "
                "no "
                "request per task, so nothing would start one; use 1, and 'schedules' for the hours without any"
            )
        ],
    ),
    "scale to zero with the queue": (
        {"scaling": ServiceScaling(min_tasks=0, max_tasks=2)},
        [
            (
                "'min_tasks' must be 1 or more with metric queue, got 0: without a task no engine reports a queue, so "
                "nothing would start one; use 1, and 'schedules' for the hours without any"
            )
        ],
    ),
    "to zero and never back": (
        {"scaling": ServiceScaling(min_tasks=1, max_tasks=2, schedules=[NIGHT])},
        ["'schedules' must bring tasks back after a schedule to zero, got none with 'min_tasks' 1 or more"],
    ),
    "bounds upside down": (
        {"scaling": ServiceScaling(min_tasks=3, max_tasks=2, target=-1)},
        ["'max_tasks' must be 3 or more, got 2", "'target' must be more than 0, got -1"],
    ),
    "slow volume": (
        {"volume_mib_s": 100},
        ["'volume_mib_s' must be 125 to 1000, got 100; use 500"],
    ),
    "a request of two hours": (
        {"request_timeout": Duration.hours(2)},
        ["'request_timeout' must be 30 to 3600 seconds, got 7200; use 600"],
    ),
}


@pytest.mark.parametrize(("changes", "expected"), SERVICES.values(), ids=SERVICES)
def test_fails_a_service(changes: dict[str, Any], expected: list[str], around: Network, place: Construct) -> None:
    assert problems(lambda: service(place, **{"network": around, **changes})) == expected


def test_fails_with_everything_at_once(stack: Stack) -> None:
    found = problems(
        lambda: service(
            stack, of_model={"tensor_parallel": 3, "batch": 0, "prefix": ""}, volume_mib_s=1, host_image="20260918"
        )
    )
    assert [text.split(" must")[0] for text in found] == [
        "'prefix'", "'batch'", "'volume_mib_s'", "'tensor_parallel'", "'host_image'",
    ]  # fmt: skip


def test_fails_an_unknown_preset() -> None:
    found = problems(lambda: ModelShape.preset("lama-3.1-8b"))
    assert found == [
        (
            "'preset' must be one of gemma-3-27b, llama-2-7b, llama-3.1-8b, llama-3.2-3b, llama-3.3-70b, mistral-7b, "
            "qwen3-14b, qwen3-30b-a3b, qwen3-32b, qwen3-8b, tinyllama-1.1b, got 'lama-3.1-8b'; did you mean "
            "'llama-3.1-8b' "
            "or 'llama-3.2-3b' or 'llama-3.3-70b'?"
        )
    ]


def test_fails_an_unknown_instance_type(stack: Stack) -> None:
    (found,) = problems(lambda: service(stack, instance_type="inf2.2xlarge"))
    assert "inf2.8xlarge" in found


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (
            ScalingSchedule(name="Half", schedule="cron(0 6 * * ? *)", min_tasks=0, max_tasks=2),
            (
                "schedule 'Half': 'min_tasks' must be 1 or more, or 'max_tasks' 0 as well, got 0 and 2: from zero "
                "tasks "
                "no "
                "metric starts one"
            ),
        ),
        (
            ScalingSchedule(name="Day", schedule="0 6 * * *", min_tasks=1, max_tasks=2),
            (
                "schedule 'Day': 'schedule' must be as 'cron(0 20 ? * MON-FRI *)' or 'at(2026-12-24T18:00:00)', "
                "got '0 6 * * *'"
            ),
        ),
        (
            ScalingSchedule(name="Day", schedule="cron(0 6 * * ? *)", min_tasks=3, max_tasks=2),
            "schedule 'Day': 'min_tasks' must be 0 to 'max_tasks' 2, got 3",
        ),
    ],
)
def test_fails_a_schedule(schedule: ScalingSchedule, expected: str, stack: Stack) -> None:
    scaling = ServiceScaling(min_tasks=1, max_tasks=2, schedules=[schedule])
    assert problems(lambda: service(stack, scaling=scaling)) == [expected]


def test_fails_two_schedules_of_one_name(stack: Stack) -> None:
    day = ScalingSchedule(name="Day", schedule="cron(0 6 * * ? *)", min_tasks=1, max_tasks=2)
    scaling = ServiceScaling(min_tasks=1, max_tasks=2, schedules=[day, day])
    assert problems(lambda: service(stack, scaling=scaling)) == [
        "'schedules' must have different names, got 'Day' 2 times"
    ]


def test_fails_a_registry_that_is_not_known_in_the_region() -> None:
    stack = new_stack(region="eu-north-1")
    net = network(stack, region="eu-north-1")
    assert problems(lambda: service(stack, network=net, engine=TextGenerationEngine.hf_vllm())) == [
        (
            "'image' must be in a registry that is known in eu-north-1, got hf-vllm-0.4.5; "
            "use hf-vllm-0.4.5-ghcr or a repository of yours"
        )
    ]


DOORS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "http without saying so": (
        {"certificate": None},
        [
            (
                "'certificate' must be given, since the door speaks HTTPS; request one of ACM in us-west-2, or say "
                "'plain_http' for an internal door"
            )
        ],
    ),
    "public without authentication": (
        {"public": True, "authentication": DoorAuthentication.none()},
        ["'authentication' must be jwt or api_key for a public door, got none; use DoorAuthentication.jwt"],
    ),
    "public and plain": (
        {"public": True, "plain_http": True},
        [
            "'plain_http' must not be said for a public door; give a 'certificate' of ACM in us-west-2",
            (
                "'authentication' jwt must come with a 'certificate': the load balancer verifies tokens on HTTPS "
                "listeners only"
            ),
        ],
    ),
    "tokens of anybody": (
        {
            "authentication": DoorAuthentication.jwt(
                issuer="https://issuer.example", key_set_url="http://issuer.example/keys", claims=[]
            )
        },
        [
            "'key_set_url' must be an https URL, got 'http://issuer.example/keys'",
            (
                "'claims' must be 1 to 10, got 0: without one any token of the issuer passes, also another "
                "application's; "
                "use client_id, scope or aud"
            ),
        ],
    ),
    "claims that cannot be": (
        {
            "authentication": DoorAuthentication.jwt(
                issuer="https://issuer.example",
                key_set_url="https://issuer.example/keys",
                claims=[JwtClaim(name="iss", values=["x"]), JwtClaim(name="aud", values=[])],
            )
        },
        [
            "claim 'iss' must be left out: the load balancer always checks it",
            "claim 'aud' must have 1 value or more, got none",
        ],
    ),
    "metrics let in": (
        {"paths": ["/v1/*", "/metrics"]},
        ["'paths' must not let in /metrics, got '/metrics'; use '/v1/*'"],
    ),
    "no path": ({"paths": []}, ["'paths' must name 1 path or more, got none; use '/v1/*'"]),
    "path without a slash": ({"paths": ["v1/*"]}, ["'paths' must begin with '/', got 'v1/*'"]),
    "too many paths": (
        {"paths": ["/v1/a", "/v1/b", "/v1/c", "/v1/d"]},
        ["'paths' must be 3 or fewer, got 4: a rule takes 5 values, and GET and POST are two of them"],
    ),
}


@pytest.fixture(scope="module")
def served(around: Network) -> InferenceService:
    """A service for all doors that are refused."""
    return service(around, network=around)


@pytest.mark.parametrize(("changes", "expected"), DOORS.values(), ids=DOORS)
def test_fails_a_door(changes: dict[str, Any], expected: list[str], served: InferenceService, place: Construct) -> None:
    assert problems(lambda: door(place, served, **changes)) == expected


def test_fails_a_certificate_of_another_region(stack: Stack) -> None:
    arn = "arn:aws:acm:us-east-1:111111111111:certificate/12345678-1234-1234-1234-123456789012"
    assert problems(lambda: door(stack, certificate=certificate(stack, arn))) == [
        f"'certificate' must be in us-west-2, got {arn} in us-east-1; request one in us-west-2"
    ]


def test_fails_a_certificate_beside_plain_http(stack: Stack) -> None:
    given = certificate(stack)
    found = problems(lambda: door(stack, certificate=given, plain_http=True, authentication=DoorAuthentication.none()))
    assert found == ["'plain_http' must be left out beside 'certificate'; the door then speaks HTTPS alone"]


def test_fails_a_public_door_in_a_network_without_public_subnets(stack: Stack) -> None:
    served = service(stack, network=network(stack, public=False))
    assert problems(lambda: door(stack, served, public=True)) == [
        "'public' must come with public subnets, got a network without; give it 'public_zones', or 'subnets' here"
    ]


def test_fails_a_door_in_one_zone(stack: Stack) -> None:
    served = service(stack)
    twice = [served.network.service_subnets[0]] * 2
    assert problems(lambda: door(stack, served, subnets=twice)) == [
        "'subnets' must be in 2 zones or more, got us-west-2a"
    ]
    assert problems(lambda: door(new := new_stack(), service(new), subnets=twice[:1])) == [
        "'subnets' must be 2 or more subnets, got 1"
    ]


def test_fails_an_internal_door_that_nobody_is_known_to_reach(stack: Stack) -> None:
    served = service(stack, network=network(stack, cidr=None))
    assert problems(lambda: door(stack, served)) == [
        "'clients' must be given: the block of the VPC is not known here; use [ec2.Peer.ipv4('10.0.0.0/16')]"
    ]
    door(stack := new_stack(), service(stack, network=network(stack, cidr=None)), clients=[ec2.Peer.ipv4("10.0.0.0/8")])


def test_fails_a_door_in_a_region_that_is_not_known() -> None:
    stack = new_stack(region=None)
    served = service(stack)
    assert problems(lambda: door(stack, served)) == [
        "the stack's Region must be given for the door's access logs; use env=Environment(region=…)"
    ]


def test_fails_a_rate_that_is_none(stack: Stack) -> None:
    assert problems(lambda: PromptWebAcl(stack, "Acl", requests_per_address=1)) == [
        "'requests_per_address' must be 10 to 2000000000, got 1; use 3000"
    ]


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
    assert "host image 20270101 is not in the catalogue" in found


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


def test_choices_that_weaken_a_door_are_warnings(stack: Stack) -> None:
    door(stack, plain_http=True, authentication=DoorAuthentication.none())
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


def test_a_network_without_a_way_out_is_a_warning(stack: Stack) -> None:
    service(stack, network=TrainingNetwork(stack, "Network", zone="us-west-2a", nat=Nat.NONE))
    (found,) = [text for text in warnings(stack) if "serving:no-way-out" in text]
    assert "they ask ECS (ecs, ecs-agent, ecs-telemetry), ECR" in found


def test_hosts_with_inf2_and_nat_give_no_advice(stack: Stack) -> None:
    zones = ["usw2-az1", "usw2-az2"]
    service(stack, network=TrainingNetwork(stack, "Network", zone="usw2-az4", service_zones=zones))
    assert [text for text in warnings(stack) if "cdk-trainyard" in text] == []
