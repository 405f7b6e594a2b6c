# ruff: noqa: E501  the messages are the point, each on its line
"""Bad input of what is served: every word of what is said about it, with line and column."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import App, Stack
from aws_cdk.assertions import Annotations, Match

from cdk_trainyard import ConfigurationError
from cdk_trainyard.deployment import Deployment, explain
from cdk_trainyard.deployment.hyperpod import HyperPodDeployment
from cdk_trainyard.deployment.serving import ServingDeployment
from stacks import build_stacks
from tests.deployment.good_file import GOOD, GOOD_SERVING, Edit, edited, problems_of, python_names, row
from tests.support import ROOT

CERTIFICATE = (
    "    certificate_arn: arn:aws:acm:us-west-2:111111111111:certificate/01234567-89ab-cdef-0123-456789abcdef\n"
)
KEY = "      kind: api_key\n      secret_arn: arn:aws:secretsmanager:us-west-2:111111111111:secret:key-AbCdEf\n"
AUTHENTICATION = f"    authentication:\n{KEY}"
DOOR = f"  door:\n{CERTIFICATE}{AUTHENTICATION}"
COMMIT = "0e9e39f249a16976918f6564b8830bc894c89659"
TOKENS = "      kind: jwt\n      issuer: https://i.example\n      key_set_url: https://i.example/keys\n"


AT_LOAD = [
    row(
        "tensor-parallel 3",
        [("tensor_parallel: 2", "tensor_parallel: 3")],
        "11:22: 'tensor_parallel' must be 1, 2, 4, 8, 12 or 24 on inf2, got 3; use 2 or 4",
    ),
    row(
        "batch 0",
        [("batch: 4", "batch: 0")],
        "12:12: 'batch' must be 1 or more, got 0; use what the model was compiled with",
    ),
    row(
        "a model that does not fit",
        [("preset: llama-3.2-3b", "preset: qwen3-32b")],
        "11:22: 'model' must fit the NeuronCores: qwen3-32b with 'tensor_parallel' 2 takes 30.55 GiB of weights + 4 x 0.500 GiB of KV cache = 32.55 GiB per core, of 13.6 GiB (85% of 16 GiB); use inf2.24xlarge with 'tensor_parallel' 8",
        "16:20: 'instance_type' must have memory for qwen3-32b beside its devices: 61.1 GiB of weights + 4 GiB for system and engine = 65.1 GiB, got inf2.xlarge with 15.2 GiB; use inf2.24xlarge, or store it in pieces per core and say 'presharded'",
    ),
    row(
        "a batch that does not fit",
        [("batch: 4", "batch: 64")],
        "11:22: 'model' must fit the NeuronCores: llama-3.2-3b with 'tensor_parallel' 2 takes 2.99 GiB of weights + 64 x 0.219 GiB of KV cache = 16.99 GiB per core, of 13.6 GiB (85% of 16 GiB); use 'batch' 48 or less, or inf2.24xlarge with 'tensor_parallel' 4",
    ),
    row(
        "inf2.xlarge with tensor-parallel 8",
        [("tensor_parallel: 2", "tensor_parallel: 8")],
        "11:22: 'tensor_parallel' must be at most 2 on inf2.xlarge (2 NeuronCores), got 8; use 2, or inf2.24xlarge",
    ),
    row(
        "TGI with a new driver",
        [("tasks: 2", 'tasks: 2\n    host_image: "20260820"')],
        "18:17: 'host_image' must carry a driver that runtime library 2.26.42 of tgi-3.3.7 works with, got 20260820 with driver 2.30.2: driver 2.29 and later need runtime library 2.33 or later, or nrt_init() fails; use 20260701",
    ),
    row(
        "a trn2 image on inf2",
        [
            ("kind: tgi", "kind: neuron_vllm\n    image: neuron-vllm-0.24.0"),
            ("tasks: 2", 'tasks: 2\n    host_image: "20260820"'),
        ],
        "15:12: 'image' must run on inf2, got neuron-vllm-0.24.0 for trn2, trn3; use neuron-vllm-0.9.1, neuron-vllm-0.11.0, neuron-vllm-0.13.0",
    ),
    row(
        "HTTP without saying so",
        [(CERTIFICATE, "")],
        "18:3: 'certificate_arn' must be given, since the door speaks HTTPS; request one of ACM in us-west-2, or say 'plain_http' for an internal door",
    ),
    row(
        "a public door without authentication",
        [
            (CERTIFICATE, CERTIFICATE + "    public: true\n"),
            (KEY, "      kind: none\n"),
            ("usw2-az2]", "usw2-az2]\n  public_zones: [usw2-az1]"),
        ],
        "22:5: 'authentication' must be jwt or api_key for a public door, got none; use kind jwt",
    ),
    row(
        "a certificate of another region",
        [("acm:us-west-2", "acm:us-east-1")],
        "19:22: 'certificate_arn' must be in us-west-2, got arn:aws:acm:us-east-1:111111111111:certificate/01234567-89ab-cdef-0123-456789abcdef in us-east-1; request one in us-west-2",
    ),
    row(
        "bucket prefix missing",
        [("    prefix: models/llama/\n", "")],
        "7:3: 'prefix' must be given in 'model'; for example prefix: llama-3.1-8b/",
    ),
    row(
        "bucket prefix empty",
        [("prefix: models/llama/", "prefix: /")],
        "10:13: 'prefix' must name the folder of the model in the bucket, got '/'; hosts may read nothing else",
    ),
    row(
        "desired above max",
        [("tasks: 2", "tasks: 5"), ("  door:", "  scaling: {min_tasks: 1, max_tasks: 4}\n  door:")],
        "18:24: 'tasks' must be between 'min_tasks' 1 and 'max_tasks' 4 of 'scaling', got 5; use 4, or widen the bounds",
    ),
    row(
        "fewer hosts than tasks",
        [("tasks: 2", "tasks: 2\n    max_hosts: 1")],
        "18:16: 'max_hosts' must be 2 or more, one for each task, got 1; raise it, or lower the tasks",
    ),
    row(
        "scale to zero with an ALB metric",
        [("  door:", "  scaling: {min_tasks: 0, max_tasks: 4, metric: alb_requests}\n  door:")],
        "18:24: 'min_tasks' must be 1 or more with metric alb_requests, got 0: without a task the load balancer counts no request per task, so nothing would start one; use 1, and 'schedules' for the hours without any",
    ),
    row(
        "an unknown preset",
        [("preset: llama-3.2-3b", "preset: lama-3.2-3b")],
        "9:13: 'preset' must be one of gemma-3-27b, llama-2-7b, llama-3.1-8b, llama-3.2-3b, llama-3.3-70b, mistral-7b, qwen3-14b, qwen3-30b-a3b, qwen3-32b, qwen3-8b, tinyllama-1.1b, got 'lama-3.2-3b'; did you mean 'llama-3.2-3b' or 'llama-3.1-8b' or 'llama-2-7b'?",
    ),
    row(
        "no shape",
        [("    preset: llama-3.2-3b\n", "")],
        "7:3: 'model' must have either 'preset' or 'shape', got neither",
    ),
    row(
        "a preset and a shape",
        [
            (
                "    preset: llama-3.2-3b\n",
                "    preset: llama-3.2-3b\n    shape: {parameters_billions: 8, layers: 1, attention_heads: 1, key_value_heads: 1, head_dimension: 1}\n",
            )
        ],
        "9:13: 'model' must have either 'preset' or 'shape', got both",
    ),
    row(
        "one service zone",
        [("[usw2-az1, usw2-az2]", "[usw2-az1]")],
        "5:3: 'network.service_zones' must be at least 2 zones, got 'usw2-az1' alone; add a zone, or leave them out",
        "5:3: 'service_zones' of the network must be in 2 zones or more for the internal door of 'serving', got usw2-az1",
    ),
    row(
        "no service zones",
        [("  service_zones: [usw2-az1, usw2-az2]\n", "")],
        "5:1: 'service_zones' of the network must be in 2 zones or more for the internal door of 'serving', got none",
    ),
    row(
        "a public door in one zone",
        [(CERTIFICATE, CERTIFICATE + "    public: true\n")],
        "6:1: 'public_zones' of the network must be in 2 zones or more for the public door of 'serving', got usw2-az4",
    ),
    row(
        "no way out",
        [("zone: usw2-az4", "zone: usw2-az4\n  nat: none")],
        "5:8: 'nat' of the network must be one or per-zone for 'serving', got none: its hosts ask ecs.us-west-2.amazonaws.com, ecs-a-*.us-west-2.amazonaws.com, ecs-t-*.us-west-2.amazonaws.com, logs.us-west-2.amazonaws.com, ghcr.io, pkg-containers.githubusercontent.com",
    ),
    row(
        "tokens of anybody",
        [(KEY, TOKENS)],
        "20:5: 'claims' must be 1 to 10, got 0: without one any token of the issuer passes, also another application's; use client_id, scope or aud",
    ),
    row(
        "tokens over plain HTTP",
        [(CERTIFICATE, "    plain_http: true\n"), (KEY, TOKENS + "      claims: [{name: client_id, values: [a]}]\n")],
        "20:5: 'authentication' jwt must come with a 'certificate_arn': the load balancer verifies tokens on HTTPS listeners only",
    ),
    row(
        "tokens of nobody",
        [(KEY, "      kind: jwt\n      claims: [{name: client_id, values: [a]}]\n")],
        "20:5: 'issuer' must be given in 'authentication' of kind jwt",
        "20:5: 'key_set_url' must be given in 'authentication' of kind jwt",
    ),
    row(
        "a key that is nowhere",
        [(KEY, "      kind: api_key\n")],
        "20:5: 'secret_arn' must be given in 'authentication' of kind api_key",
    ),
    row(
        "keys of another kind",
        [(KEY, KEY + "      issuer: https://i.example\n")],
        "23:15: 'issuer' must be left out of 'authentication' of kind api_key, which does not look at it",
    ),
    row(
        "metrics let in",
        [(CERTIFICATE, CERTIFICATE + "    paths: [/v1/*, /metrics]\n")],
        "20:5: 'paths' must not let in /metrics, got '/metrics'; use '/v1/*'",
    ),
    row(
        "clients that are no block",
        [(CERTIFICATE, CERTIFICATE + "    clients: [10.0.0.300/8]\n")],
        "20:5: 'clients' must be IPv4 blocks, as '10.0.0.0/16', got '10.0.0.300/8'",
    ),
    row(
        "a request of two hours",
        [("  model:", "  request_timeout_seconds: 7200\n  model:")],
        "7:28: 'request_timeout_seconds' must be 30 to 3600 seconds, got 7200; use 600",
    ),
    row(
        "a secret as text",
        [("kind: tgi", "kind: tgi\n    environment: {HF_TOKEN: abc}")],
        "15:5: 'environment' must not hold HF_TOKEN: it would stand in the template; use 'hub_token_secret_arn'",
    ),
    row(
        "rolling a single task",
        [("tasks: 2", "tasks: 1\n    rollout: rolling")],
        "18:14: 'rollout' rolling must have 2 tasks or more, got 1: there is no host for the new task while the old one runs; use recreate or surge",
    ),
    row(
        "surge without hosts",
        [("tasks: 2", "tasks: 2\n    max_hosts: 3\n    rollout: surge")],
        "18:16: 'max_hosts' must be 4 or more for 'rollout' surge of 2 tasks, got 3; raise it, or use 'rollout' rolling",
    ),
    row(
        "a tag of nothing",
        [("kind: tgi", "kind: tgi\n    tag: v1")],
        "15:10: 'tag' is said of a repository of yours; give its 'repository_arn' too, got 'v1' alone",
    ),
    row(
        "an image misspelt",
        [("kind: tgi", "kind: tgi\n    image: tgi-3.3.8")],
        "15:12: 'image' must be tgi-3.3.5, tgi-3.3.6, tgi-3.3.7, tgi-dlc-3.3.6 or a reference with its registry, got 'tgi-3.3.8'; did you mean 'tgi-3.3.7' or 'tgi-3.3.6' or 'tgi-3.3.5'?",
    ),
    row(
        "fp8 with TGI",
        [("batch: 4", "batch: 4\n    dtype: fp8")],
        "13:12: 'dtype' must be bf16 or fp16 for tgi, got fp8; use bf16, or the engine neuron_vllm",
    ),
    row(
        "trn1",
        [("inf2.xlarge", "trn1.2xlarge")],
        "16:20: 'instance_type' must be an inf2 type, got trn1.2xlarge; use inf2.xlarge, inf2.8xlarge, inf2.24xlarge, inf2.48xlarge",
    ),
    row(
        "a slow volume",
        [("tasks: 2", "tasks: 2\n    volume_mib_s: 50")],
        "18:19: 'volume_mib_s' must be 125 to 1000, got 50; use 500",
    ),
    row(
        "compiling for Neuron's own vLLM",
        [
            ("kind: tgi", "kind: neuron_vllm"),
            ("  door:", f"  compile: {{source: meta-llama/Llama-3.2-3B, revision: {COMMIT}}}\n  door:"),
        ],
        "13:3: 'engine' must be hf_vllm or tgi with one of tgi-3.3.5, tgi-3.3.6, tgi-3.3.7, tgi-dlc-3.3.6, hf-vllm-0.4.5, hf-vllm-0.4.5-ghcr for a compilation, got neuron_vllm with neuron-vllm-0.13.0: it compiles with NxD Inference, on Neuron devices; compile elsewhere, or use hf_vllm",
    ),
    row(
        "compiling a branch",
        [("  door:", "  compile: {source: meta-llama/Llama-3.2-3B, revision: main}\n  door:")],
        "18:56: 'revision' must be a commit of 'source', 40 hexadecimal digits, got main: a branch moves, and what is compiled again would be another model; the Hub lists them under 'Files and versions'",
    ),
    row(
        "compiling two models, or none",
        [("  door:", "  compile: {source: meta-llama/Llama-3.2-3B, exported: exports/llama/}\n  door:")],
        "18:21: a compilation must have either 'source', a model of the Hub, or 'exported', a folder, got both",
    ),
    row(
        "a build that is a path",
        [("    prefix: models/llama/\n", "    prefix: models/llama/\n    build: a/b\n")],
        "11:12: 'build' must be one folder of 'prefix', of letters, digits, '.', '_' and '-', got 'a/b'; a compilation's log ends with it",
    ),
    row(
        "compiling what is not precompiled",
        [
            ("kind: tgi", "kind: hf_vllm"),
            ("batch: 4", "batch: 4\n    precompiled: false"),
            ("  door:", f"  compile: {{source: meta-llama/Llama-3.2-3B, revision: {COMMIT}}}\n  door:"),
            ("inf2.xlarge", "inf2.8xlarge"),
        ],
        "13:18: 'precompiled' must be true with a compilation: the engine then only loads what it made",
    ),
    row(
        "compiling what is too large",
        [
            ("kind: tgi", "kind: hf_vllm"),
            ("llama-3.2-3b", "llama-3.3-70b"),
            ("tensor_parallel: 2", "tensor_parallel: 24"),
            ("inf2.xlarge", "inf2.48xlarge"),
            (
                "  door:",
                f"  compile: {{timeout_hours: 9, source: meta-llama/Llama-3.3-70B, revision: {COMMIT}}}\n  door:",
            ),
        ],
        "10:13: 'model' must be small enough for a build host of 145 GiB: llama-3.3-70b takes 2 GiB + 3 x its weights = 396 GiB; compile it on an instance with that memory and copy it to 'prefix'",
        "18:28: 'timeout_hours' must be 1 to 8, got 9; use 8",
    ),
    row(
        "compiling nothing",
        [("kind: tgi", "kind: hf_vllm"), ("  door:", "  compile: {source: llama}\n  door:")],
        "18:21: 'source' must be the name of a model on the Hugging Face Hub, <organization>/<model>, got 'llama'",
    ),
    row(
        "an alarm that never rests",
        [("  door:", "  monitoring: {error_percent: 0}\n  door:")],
        "18:31: 'error_percent' must be more than 0, got 0",
    ),
    row(
        "a key misspelt",
        [("tensor_parallel", "tensor_paralel")],
        "7:3: 'tensor_parallel' must be given in 'model'; it is 1, 2, 4, 8, 12 or 24",
        "11:5: 'tensor_paralel' is not a key in 'model'; did you mean 'tensor_parallel'?",
    ),
    row(
        "no door",
        [(DOOR, "")],
        "6:1: 'door' must be given in 'serving'",
    ),
    row(
        "no authentication",
        [(AUTHENTICATION, "")],
        "18:3: 'authentication' must be given in 'door'",
    ),
    row(
        "a cluster without an orchestrator",
        [("serving:", "cluster: {}\nserving:")],
        "1:1: 'orchestrator' must be given; it is hyperpod, parallelcluster or fleet",
    ),
    row(
        "an orchestrator without a cluster",
        [("serving:", "orchestrator: hyperpod\nserving:")],
        "1:1: 'cluster' must be given",
    ),
    row(
        "a region without a registry",
        [
            ("us-west-2\n", "eu-north-1\n"),
            ("usw2-az4", "eun1-az1"),
            ("[usw2-az1, usw2-az2]", "[eun1-az1, eun1-az2]"),
            ("kind: tgi", "kind: hf_vllm"),
            ("acm:us-west-2", "acm:eu-north-1"),
        ],
        "6:1: 'image' must be in a registry that is known in eu-north-1, got hf-vllm-0.4.5; use hf-vllm-0.4.5-ghcr or a repository of yours",
    ),
    row(
        "limits that are none",
        [(CERTIFICATE, CERTIFICATE + "    web_acl: {requests_per_address: 1}\n    concurrency: {requests: 0}\n")],
        "20:37: 'requests_per_address' must be 10 to 2000000000, got 1; use 3000",
        "21:29: 'requests' of 'concurrency' must be 1 to 1000, got 0; use the model's batch",
    ),
    row(
        "to zero and never back",
        [
            (
                "  door:",
                "  scaling: {min_tasks: 1, max_tasks: 4, schedules: [{name: night, schedule: 0 20 * * *, min_tasks: 0, max_tasks: 0}]}\n  door:",
            )
        ],
        "18:77: schedule 'night': 'schedule' must be as 'cron(0 20 ? * MON-FRI *)' or 'at(2026-12-24T18:00:00)', got '0 20 * * *'",
        "18:100: 'schedules' must bring tasks back after a schedule to zero, got none with 'min_tasks' 1 or more",
    ),
    row(
        "an engine that is no mapping",
        [("  engine:\n    kind: tgi", "  engine: tgi")],
        "13:11: 'engine' must be a mapping ('kind: …' on lines below it), got 'tgi'",
    ),
]


@pytest.mark.parametrize(("edits", "says"), AT_LOAD)
def test_fails_at_load_with_line_and_column(edits: list[Edit], says: list[str], write: Callable[[str], Path]) -> None:
    assert problems_of(write(edited(*edits, good=GOOD_SERVING))) == says
    assert python_names(" ".join(says)) == []


def test_fails_without_anything_to_do(write: Callable[[str], Path]) -> None:
    assert problems_of(write("name: demo\nregion: us-west-2\nnetwork: {zone: usw2-az4}\n")) == [
        "1:1: a deployment must train, serve or do both, got neither; give 'cluster' with its 'orchestrator', or 'serving'"
    ]


def test_fails_to_load_a_cluster_as_a_deployment_that_only_serves(write: Callable[[str], Path]) -> None:
    with pytest.raises(ConfigurationError, match="'orchestrator' must be left out here, got 'hyperpod'"):
        ServingDeployment.load(write(GOOD))
    with pytest.raises(ConfigurationError, match="'orchestrator' must be hyperpod here, got None"):
        HyperPodDeployment.load(write(GOOD_SERVING))


def test_what_is_wrong_in_one_part_leaves_the_others_judged(write: Callable[[str], Path]) -> None:
    """A mistake of form in the door does not hide that the model is too large, and the other way round."""
    broken = [(CERTIFICATE, "    certificat_arn: x\n"), ("tensor_parallel: 2", "tensor_parallel: 3")]
    assert [problem.partition(":")[0] for problem in problems_of(write(edited(*broken, good=GOOD_SERVING)))] == [
        "11",
        "19",
    ]
    other = [("batch: 4", "batch: many"), (CERTIFICATE, "    plain_http: true\n    public: true\n")]
    said = " ".join(problems_of(write(edited(*other, good=GOOD_SERVING))))
    assert "'batch' must be a whole number" in said
    assert "'plain_http' must not be said for a public door" in said


def test_a_cluster_s_mistakes_and_the_model_s_are_said_together(write: Callable[[str], Path]) -> None:
    served = GOOD_SERVING.partition("serving:\n")[2].replace("tensor_parallel: 2", "tensor_parallel: 3")
    both = edited(
        ("count: 4", "count: -4"), ("zone: use1-az4", "zone: use1-az4\n  service_zones: [use1-az4, use1-az6]")
    )
    said = " ".join(problems_of(write(f"{both}serving:\n{served.replace('us-west-2', 'us-east-1')}")))
    assert "'count' of group 'workers'" in said
    assert "'tensor_parallel' must be" in said


EXISTING = """\
  vpc_id: vpc-0123456789abcdef0
  accelerator_subnet: { subnet_id: subnet-0123456789abcdef0, zone: us-west-2a }
"""


SERVICE_SUBNETS = """\
  service_subnets:
    - { subnet_id: subnet-0123456789abcdef1, zone: us-west-2a }
    - { subnet_id: subnet-0123456789abcdef2, zone: us-west-2b }
"""


@pytest.mark.parametrize(
    ("network", "says"),
    [
        (
            "",
            [
                "'service_subnets' of the network must be in 2 zones or more for the internal door of 'serving', got none"
            ],
        ),
        (
            SERVICE_SUBNETS,
            [
                "'clients' of the door must be given, or 'cidr' of the network: the addresses of the VPC are not known here"
            ],
        ),
    ],
    ids=["no service subnets", "nobody is known to reach it"],
)
def test_fails_in_an_existing_network(network: str, says: list[str], write: Callable[[str], Path]) -> None:
    old = "  zone: usw2-az4\n  service_zones: [usw2-az1, usw2-az2]\n"
    problems = problems_of(write(edited((old, EXISTING + network), good=GOOD_SERVING)))
    assert [problem.split(": ", 1)[1] for problem in problems][: len(says)] == says


def test_what_a_construct_of_the_stack_refuses_is_said_of_its_section(write: Callable[[str], Path]) -> None:
    path = write(GOOD_SERVING)
    error = ConfigurationError(
        "ServingStack/Service", ["'batch' must be another, got 4", "the moon is in the wrong house"]
    )
    assert explain(error, Deployment.load(path)).splitlines()[1:] == [
        f"  - {path}:6:1: the moon is in the wrong house (ServingStack/Service)",
        f"  - {path}:12:12: 'batch' must be another, got 4",
    ]


# ---------------------------------------------------------------- what is said and goes on
def built(path: Path) -> dict[str, Stack]:
    return {stack.node.id: stack for stack in build_stacks(App(), Deployment.load(path))}


def warnings(stacks: dict[str, Stack]) -> str:
    found = Annotations.from_stack(stacks["ServingStack"]).find_warning("*", Match.any_value())
    texts = [str(entry.entry.data) for entry in found]
    return " ".join(text for text in texts if "@cdk-trainyard" in text)


@pytest.mark.parametrize(
    ("edits", "says"),
    [
        (
            [("service_zones: [usw2-az1, usw2-az2]", "service_zones: [use1-az1, use1-az3]"), ("us-west-2\n", "us-east-1\n"),
             ("usw2-az4", "use1-az4"), ("acm:us-west-2", "acm:us-east-1")],
            "inf2.xlarge is not known to be offered in use1-az1, use1-az3, only in use1-az2, use1-az4, use1-az5, use1-az6 (data of 20",
        ),
        ([("batch: 4", "batch: 64"), ("kind: tgi", "kind: tgi\n    unchecked: true")], "use 'batch' 48 or less"),
        ([("kind: tgi", "kind: tgi\n    image: registry.example/tgi:9")], "engine image registry.example/tgi:9 is not in the catalogue"),
        ([(CERTIFICATE, "    plain_http: true\n"), (KEY, "      kind: none\n")], "whoever reaches the door can use the model"),
    ],
    ids=["zones without inf2", "unchecked", "unknown image", "an open door"],
)  # fmt: skip
def test_is_a_warning(edits: list[Edit], says: str, write: Callable[[str], Path]) -> None:
    assert says in warnings(built(write(edited(*edits, good=GOOD_SERVING))))


def test_the_good_file_is_good_and_gives_no_advice(write: Callable[[str], Path]) -> None:
    stacks = built(write(GOOD_SERVING))
    assert list(stacks) == ["NetworkStack", "StorageStack", "ServingStack"]
    assert warnings(stacks) == ""


# ---------------------------------------------------------------- nobody waits for what they do not use
LOADED = """
import sys
from aws_cdk import App
from cdk_trainyard.deployment import Deployment
from stacks import build_stacks
for path in sys.argv[1:]:
    app = App()
    build_stacks(app, Deployment.load(path))
    app.synth()
    print(*sorted(sys.modules))
"""
ONLY_SERVING = {
    f"aws_cdk.aws_{name}"
    for name in (
        "autoscaling", "certificatemanager", "codebuild", "ecr", "ecs", "elasticloadbalancingv2", "wafv2"
    )
}  # fmt: skip


def loaded(*paths: Path) -> list[set[str]]:
    """Return the modules of a process that has built a file, and then another."""
    command = [sys.executable, "-c", LOADED, *map(str, paths)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [set(line.split()) for line in run.stdout.splitlines()]


@pytest.mark.slow
def test_a_file_that_does_not_serve_imports_nothing_of_it(write: Callable[[str], Path]) -> None:
    training = write(GOOD)
    training = training.rename(training.with_name("training.yaml"))
    trains, serves = loaded(training, write(GOOD_SERVING))
    assert serves >= ONLY_SERVING
    assert not ONLY_SERVING & trains
    assert {name for name in trains if "serving" in name} == set()
