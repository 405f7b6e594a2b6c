# ruff: noqa: E501  the messages are the point, each on its line
"""What the rules of serving refuse, in which words; no CDK object is made."""

from dataclasses import replace
from typing import Any

import pytest

from cdk_trainyard.options.judging import Judge
from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.options.stand_ins import Certificate, Key, Repository, Secret, Span
from cdk_trainyard.problems import Problem, Warned, sentence, shown
from cdk_trainyard.serving import (
    AuthenticationKind,
    ClaimFormat,
    ClientAuthentication,
    ConcurrencyLimit,
    JwtClaim,
    ModelShape,
    NeuronDtype,
    Rollout,
    ScalingMetric,
    ScalingSchedule,
    ServiceScaling,
    TextGenerationEngine,
)
from cdk_trainyard.serving.rules import service_findings
from cdk_trainyard.serving.rules_environment import listening_problems
from cdk_trainyard.serving.rules_load_balancer import known_client_problems, load_balancer_problems
from cdk_trainyard.serving.rules_place import Place, zones_problems
from cdk_trainyard.serving.rules_service import monitoring_problems
from cdk_trainyard.serving.spec_load_balancer import LoadBalancerSpec, WebAclSpec
from cdk_trainyard.serving.spec_service import MonitoringSpec, ServiceSpec
from tests.serving.parts import CERTIFICATE, JWT, REGION, hosts, model

NIGHT = ScalingSchedule(name="night", schedule="cron(0 20 ? * MON-FRI *)", min_tasks=0, max_tasks=0)
DAY = ScalingSchedule(name="day", schedule="cron(0 6 ? * MON-FRI *)", min_tasks=1, max_tasks=2)
SECRETS = {
    "DB_PASSWORD": "x",
    "ADMIN_PASS": "<3hunter2",
    "API_KEY_2": "abc123abc123",
    "SECRET_KEY_BASE": "0123456789abcdef/0123456789abcdef",
    "AWS_SECRET_ACCESS_KEY": "/0123456789abcdefghijklmnopqrstuvwxyzABC",
    "GITLAB_TOKEN": "abcdefgh",
    "API_TOKENS": "abcdefgh,ijklmnop",
    "BASIC_AUTH": "user:sesame",
    "MAX_TOKEN": "abcdefgh",
    "LOGIN": "https://user:sesame@files.example/x",
    "HOOK_SECRET": "https://sesame@files.example/x",
    "EOS_TOKEN": "hf_abcdefghijklmnopqrst",
}
OWN = ModelShape(parameters_billions=1, layers=8, attention_heads=8, key_value_heads=8, head_dimension=64)
SECRET: Any = Secret("arn:aws:secretsmanager:us-west-2:111111111111:secret:key-AbCdEf")
COPY: Any = Repository("arn:aws:ecr:us-west-2:111111111111:repository/mirror/tgi")
KEY: Any = Key("arn:aws:kms:us-west-2:111111111111:key/11111111-89ab-cdef-0123-456789abcdef")
WHERE = Environment(region=REGION, account="111111111111")


def said(judge: Judge, problems: Any) -> list[str]:
    found: list[Problem] = [*judge.problems, *problems]
    return [sentence(problem) for problem in found]


def of_service(
    *,
    of_model: dict[str, Any] | None = None,
    of_hosts: dict[str, Any] | None = None,
    engine: TextGenerationEngine | None = None,
    region: str = REGION,
    **changes: Any,
) -> list[str]:
    """Return what is said of a service with changes."""
    judge = Judge(environment=replace(WHERE, region=region))
    spec = ServiceSpec(
        model=model(**(of_model or {})),
        engine=engine or TextGenerationEngine.tgi(),
        hosts=hosts(**(of_hosts or {})),
        **changes,
    )
    return said(judge, service_findings(judge.judged(spec), region).problems)


def of_load_balancer(**changes: Any) -> list[str]:
    """Return what is said of a load balancer with changes."""
    judge = Judge(environment=WHERE)
    settings: dict[str, Any] = {"authentication": JWT, "certificate": Certificate(CERTIFICATE), **changes}
    return said(judge, load_balancer_problems(judge.judged(LoadBalancerSpec(**settings))))


def scaled(**changes: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {"min_tasks": 1, "max_tasks": 4, **changes}
    return {"scaling": ServiceScaling(**settings)}


def jwt(**changes: Any) -> dict[str, Any]:
    return {"authentication": replace(JWT, **changes)}


def key() -> dict[str, Any]:
    return {"authentication": ClientAuthentication.api_key(SECRET)}


def claim(name: str = "aud", **changes: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {"values": ["a"], **changes}
    return jwt(claims=(JwtClaim(name=name, **settings),))


def tgi(**changes: Any) -> dict[str, Any]:
    return {"engine": TextGenerationEngine.tgi(**changes)}


def of_monitoring(**changes: Any) -> list[str]:
    """Return what is said of thresholds."""
    judge = Judge(environment=WHERE)
    return said(judge, monitoring_problems(judge.judged(MonitoringSpec(**changes)), 600))


def test_variables_that_hold_no_secret_pass() -> None:
    variables = {
        "VLLM_LOGGING_LEVEL": "DEBUG",
        "VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "700",
        "USE_AUTH": "false",
        "MIRROR": "https://mirror.example:8443/a:b@c",
        "EYE": "eyJ",
        "BY": "Bearer",
        "LANGFUSE_PUBLIC_KEY": "pk-lf-123",
        "HF_TOKEN_PATH": "/model/token",
        "PASSWORD_FILE": "~/password",
        "TOKENIZER_MAX_TOKENS": "all",
    }
    assert of_service(**tgi(environment=variables)) == []


SERVICES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "tensor_parallel 3": (
        {"of_model": {"tensor_parallel": 3}},
        ["'model.tensor_parallel' must be 1, 2, 4, 8, 12 or 24, got 3"],
    ),
    "more cores than there are": (
        {"of_model": {"tensor_parallel": 8}},
        [
            (
                "'model.tensor_parallel' must be at most 2 on inf2.xlarge (2 NeuronCores), got 8; use 2, or "
                "'hosts.instance_type' inf2.24xlarge"
            )
        ],
    ),
    "more cores than there are for a model that fewer do not hold": (
        {"of_model": {"tensor_parallel": 8, "preset": "qwen3-14b", "batch": 32}},
        [
            (
                "'model.tensor_parallel' must be at most 2 on inf2.xlarge (2 NeuronCores), got 8; use "
                "'hosts.instance_type' inf2.24xlarge"
            )
        ],
    ),
    "batch 0": ({"of_model": {"batch": 0}}, ["'model.batch' must be 1 to 100000000, got 0"]),
    "sequence length 0": (
        {"of_model": {"sequence_length": 0}},
        ["'model.sequence_length' must be 2 to 100000000, got 0"],
    ),
    "sequence that the model was not made for": (
        {"of_model": {"preset": "llama-2-7b", "sequence_length": 8192, "batch": 1, "presharded": True}},
        [
            "'model.sequence_length' must be at most 4096, the longest sequence that llama-2-7b was made for (config.json and model card), got 8192; for a model of that size that was made for more, give 'shape' instead of 'preset'"
        ],
    ),
    "prompt as long as the sequence": (
        {"of_model": {"max_input_tokens": 4096}},
        ["'model.max_input_tokens' must be 1 to 4095, less than 'sequence_length', got 4096"],
    ),
    "batch that does not fit": (
        {"of_model": {"batch": 64}},
        [
            "'model.batch' must fit the NeuronCores: llama-3.2-3b with 'tensor_parallel' 2 takes 2.99 GiB of weights + 64 x 0.219 GiB of KV cache = 16.99 GiB per core, of 13.6 GiB (85% of 16 GiB); use 'batch' 48 or less, or inf2.24xlarge with 'tensor_parallel' 4"
        ],
    ),
    "model that does not fit": (
        {"of_model": {"preset": "llama-3.3-70b", "batch": 1}, "of_hosts": {"instance_type": "inf2.8xlarge"}},
        [
            "'model.tensor_parallel' must fit the NeuronCores: llama-3.3-70b with 'tensor_parallel' 2 takes 65.70 GiB of weights + 1 x 0.625 GiB of KV cache = 66.33 GiB per core, of 13.6 GiB (85% of 16 GiB); use inf2.48xlarge with 'tensor_parallel' 24",
            "'hosts.instance_type' must have memory for llama-3.3-70b beside its devices: 131.4 GiB of weights + 4 GiB for system and engine = 135.4 GiB, got inf2.8xlarge with 121.6 GiB; use inf2.48xlarge, or store it in pieces per core and say 'presharded'",
        ],
    ),
    "model that the host cannot load": (
        {"of_model": {"preset": "llama-3.1-8b"}},
        [
            "'hosts.instance_type' must have memory for llama-3.1-8b beside its devices: 15.0 GiB of weights + 4 GiB for system and engine = 19.0 GiB, got inf2.xlarge with 15.2 GiB; use inf2.8xlarge, or store it in pieces per core and say 'presharded'"
        ],
    ),
    "model that a smaller host holds with a smaller batch": (
        {"of_model": {"preset": "llama-2-7b", "batch": 8}},
        [
            "'model.batch' must fit the NeuronCores: llama-2-7b with 'tensor_parallel' 2 takes 6.28 GiB of weights + 8 x 1.000 GiB of KV cache = 14.28 GiB per core, of 13.6 GiB (85% of 16 GiB); use 'batch' 7 or less, or inf2.24xlarge with 'tensor_parallel' 4",
            "'hosts.instance_type' must have memory for llama-2-7b beside its devices: 12.6 GiB of weights + 4 GiB for system and engine = 16.6 GiB, got inf2.xlarge with 15.2 GiB; use inf2.24xlarge, or inf2.8xlarge with 'batch' 7 of 'model', or store it in pieces per core and say 'presharded'",
        ],
    ),
    "model that the host cannot compile": (
        {"of_model": {"precompiled": False}},
        [
            "'hosts.instance_type' must have memory for llama-3.2-3b beside its devices: 3 x 6.0 GiB of weights to compile + 4 GiB for system and engine = 21.9 GiB, got inf2.xlarge with 15.2 GiB; use inf2.8xlarge, or compile it elsewhere and say 'precompiled'"
        ],
    ),
    "pieces per core that the host cannot load": (
        {"of_model": {"preset": "llama-3.1-8b", "tensor_parallel": 1, "presharded": True, "batch": 1}},
        [
            "'model.tensor_parallel' must fit the NeuronCores: llama-3.1-8b with 'tensor_parallel' 1 takes 14.96 GiB of weights + 1 x 0.500 GiB of KV cache = 15.46 GiB per core, of 13.6 GiB (85% of 16 GiB); use inf2.xlarge with 'tensor_parallel' 2",
            "'hosts.instance_type' must have memory for llama-3.1-8b beside its devices: 15.0 GiB of weights per core + 4 GiB for system and engine = 19.0 GiB, got inf2.xlarge with 15.2 GiB; use inf2.xlarge with 'tensor_parallel' 2",
        ],
    ),
    "unknown preset": (
        {"of_model": {"preset": "lama-3.1-8b"}},
        [
            "'model.preset' must be llama-2-7b, llama-3.1-8b, llama-3.2-3b, llama-3.3-70b, qwen3-14b, qwen3-30b-a3b, qwen3-32b, qwen3-8b, … (all are in serving/README.md, 'What fits'), got 'lama-3.1-8b'; did you mean 'llama-3.1-8b' or 'llama-3.2-3b' or 'llama-3.3-70b'?"
        ],
    ),
    "a model of the Hub as a preset": (
        {"of_model": {"preset": "meta-llama/Llama-2-7b-hf"}},
        [
            "'model.preset' must be llama-2-7b, llama-3.1-8b, llama-3.2-3b, llama-3.3-70b, qwen3-14b, qwen3-30b-a3b, qwen3-32b, qwen3-8b, … (all are in serving/README.md, 'What fits'), got 'meta-llama/Llama-2-7b-hf'; did you mean 'llama-2-7b'? A model of the Hub is named in 'compile', as 'source'"
        ],
    ),
    "a family that no image is known to serve": (
        {"of_model": {"preset": "mistral"}},
        [
            "'model.preset' must be llama-2-7b, llama-3.1-8b, llama-3.2-3b, llama-3.3-70b, qwen3-14b, qwen3-30b-a3b, qwen3-32b, qwen3-8b, … (all are in serving/README.md, 'What fits'), got 'mistral'; 'mistral-7b' is a mistral model, which no image of the catalogue is known to serve; give an image of yours that does as 'image' of 'engine'"
        ],
    ),
    "no shape": (
        {"of_model": {"preset": None}},
        ["'model.preset' or 'shape' must be given, for memory follows from it, got neither"],
    ),
    "two shapes": (
        {"of_model": {"preset": "llama-3.2-3b", "shape": OWN}},
        ["'model.preset' must be left out beside 'shape'; one of both says how large it is"],
    ),
    "no prefix": (
        {"of_model": {"prefix": "/"}},
        [
            "'model.prefix' must be a folder of the bucket, without 's3://' and its name, of letters, digits and any of !_.()=- between single slashes, as llama-3.1-8b/, got '/'"
        ],
    ),
    "prefix with a space": (
        {"of_model": {"prefix": "my models"}},
        [
            "'model.prefix' must be a folder of the bucket, without 's3://' and its name, of letters, digits and any of !_.()=- between single slashes, as llama-3.1-8b/, got 'my models'"
        ],
    ),
    "prefix with its bucket": (
        {"of_model": {"prefix": "s3://models/llama/"}},
        [
            "'model.prefix' must be a folder of the bucket, got 's3://models/llama/'; write llama/; the bucket models stands apart, in a file as 'bucket_name' of 'models' in 'storage.buckets'"
        ],
    ),
    "prefix that leads up": (
        {"of_model": {"prefix": "models/../other"}},
        [
            "'model.prefix' must be a folder of the bucket, without 's3://' and its name, of letters, digits and any of !_.()=- between single slashes, as llama-3.1-8b/, got 'models/../other'"
        ],
    ),
    "an archive": (
        {"of_model": {"prefix": "models/model.tar.gz"}},
        [
            "'model.prefix' must be a folder of the bucket, got 'models/model.tar.gz'; nothing unpacks an archive: put what is in it into a folder, and name that"
        ],
    ),
    "name with a space": (
        {"of_model": {"name": "my llama"}},
        [
            "'model.name' must be letters, digits, '.', '_', ':', '/' and '-', as clients ask for the model by it, as llama-3.1-8b, got 'my llama'"
        ],
    ),
    "build that is a path": (
        {"of_model": {"build": "a/b"}},
        [
            "'model.build' must be one folder of 'prefix', of letters, digits, '.', '_' and '-', which a compilation's log ends with, as 3f9a0c51d7e2, got 'a/b'"
        ],
    ),
    "eight bits with tgi": (
        {"of_model": {"dtype": NeuronDtype.FP8}},
        ["'model.dtype' must be bf16 or fp16 for tgi, got fp8; use bf16, or an engine of kind neuron-vllm"],
    ),
    "shards that are not compiled": (
        {"of_model": {"presharded": True, "precompiled": False}, "of_hosts": {"instance_type": "inf2.8xlarge"}},
        ["'model.presharded' must come with 'precompiled': compiling starts from the whole weights; leave one out"],
    ),
    "shape without layers": (
        {"of_model": {"shape": replace(OWN, layers=0)}},
        ["'model.shape.layers' must be 1 to 100000, got 0"],
    ),
    "shape without parameters": (
        {"of_model": {"shape": replace(OWN, parameters_billions=0)}},
        ["'model.shape.parameters_billions' must be more than 0, got 0"],
    ),
    "shape that no volume holds": (
        {"of_model": {"shape": replace(OWN, parameters_billions=100_000)}, **tgi(unchecked=True)},
        ["'model' must fit a root volume, 65536 GiB at most: llama takes 205000; give a smaller one"],
    ),
    "shape that no alarm waits for": (
        {"of_model": {"shape": replace(OWN, parameters_billions=15_000)}, **tgi(unchecked=True)},
        [
            "'model' must load in 11.75 hours, as alarms of CloudWatch wait for a day at most: llama takes 15.9; give a smaller one"
        ],
    ),
    "architecture that Neuron's vLLM does not look for": (
        {
            "of_model": {"preset": "gemma-3-27b", "tensor_parallel": 8},
            "of_hosts": {"instance_type": "inf2.24xlarge"},
            "engine": TextGenerationEngine.neuron_vllm(),
        },
        [
            "'model.preset' must be llama-2-7b, llama-3.1-8b, llama-3.2-3b, llama-3.3-70b, qwen3-14b, qwen3-30b-a3b, qwen3-32b, qwen3-8b, … (all are in serving/README.md, 'What fits') for neuron-vllm-0.13.0, got 'gemma-3-27b', a gemma3 model, which it does not serve; give an image of yours that does as 'image' of 'engine'"
        ],
    ),
    "shape with odd groups": (
        {"of_model": {"shape": replace(OWN, attention_heads=9)}},
        [
            "'model.shape.attention_heads' must be a multiple of 'key_value_heads', got 9 and 8; config.json calls them num_attention_heads and num_key_value_heads"
        ],
    ),
    "architecture that another engine serves": (
        {"of_model": {"preset": "qwen3-30b-a3b", "tensor_parallel": 8}, "of_hosts": {"instance_type": "inf2.24xlarge"}},
        [
            "'model.preset' must be llama-2-7b, llama-3.1-8b, llama-3.2-3b, llama-3.3-70b, qwen3-14b, qwen3-32b, qwen3-8b or tinyllama-1.1b for tgi-3.3.7, got 'qwen3-30b-a3b', a qwen3_moe model, which it does not serve; use hf-vllm-0.4.5, hf-vllm-0.4.5-ghcr, neuron-vllm-0.11.0 or neuron-vllm-0.13.0, or give an image of yours that does as 'image' of 'engine'"
        ],
    ),
    "architecture that no engine is known to serve": (
        {
            "of_model": {"preset": "mistral-7b"},
            "of_hosts": {"instance_type": "inf2.8xlarge"},
            "engine": TextGenerationEngine.hf_vllm(image="hf-vllm-0.4.5-ghcr"),
        },
        [
            "'model.preset' must be llama-2-7b, llama-3.1-8b, llama-3.2-3b, llama-3.3-70b, qwen3-14b, qwen3-30b-a3b, qwen3-32b, qwen3-8b, … (all are in serving/README.md, 'What fits') for hf-vllm-0.4.5-ghcr, got 'mistral-7b', a mistral model, which it does not serve; give an image of yours that does as 'image' of 'engine'"
        ],
    ),
    "new driver": (
        {"of_hosts": {"host_image": "20260820"}},
        [
            "'hosts.host_image' must carry a driver that runtime library 2.26.42 of tgi-3.3.7 works with, got 20260820 with driver 2.30.2: driver 2.29 and later need runtime library 2.33 or later, or nrt_init() fails; use '20260701'"
        ],
    ),
    "host image that is none": (
        {"of_hosts": {"host_image": "recommended"}},
        ["'hosts.host_image' must be the version of an ECS Neuron image, eight digits, as 20260701, got 'recommended'"],
    ),
    "host image of a day that is none": (
        {"of_hosts": {"host_image": "20260230"}},
        [
            "'hosts.host_image' must be the day on which the ECS Neuron image was built, as 20260701, got '20260230', which is none"
        ],
    ),
    "image of another family": (
        {
            "engine": TextGenerationEngine.neuron_vllm(image="neuron-vllm-0.24.0"),
            "of_hosts": {"host_image": "20260820"},
        },
        [
            "'engine.image' must run on inf2, got neuron-vllm-0.24.0 for trn2, trn3; use neuron-vllm-0.9.1, neuron-vllm-0.11.0 or neuron-vllm-0.13.0"
        ],
    ),
    "misspelt image": (
        tgi(image="tgi-3.3.8"),
        [
            "'engine.image' must be tgi-3.3.5, tgi-3.3.6, tgi-3.3.7, tgi-dlc-3.3.6 or a reference with its registry, got 'tgi-3.3.8'; did you mean 'tgi-3.3.7' or 'tgi-3.3.6' or 'tgi-3.3.5'?"
        ],
    ),
    "image that is none": (
        tgi(image="registry.example/tgi 9"),
        [
            "'engine.image' must be an image with its registry, and a tag or a digest unless it is latest, as registry.example.com/team/image:1.0, got 'registry.example/tgi 9'"
        ],
    ),
    "image of another server by its key": (
        tgi(image="hf-vllm-0.4.5"),
        [
            "'engine.image' must be an image of tgi, got hf-vllm-0.4.5, which is one of hf-vllm; use tgi-3.3.5, tgi-3.3.6, tgi-3.3.7 or tgi-dlc-3.3.6"
        ],
    ),
    "image of another server by its reference": (
        tgi(image="ghcr.io/huggingface/optimum-neuron-vllm:0.9.9"),
        [
            "'engine.image' must be an image of tgi, got ghcr.io/huggingface/optimum-neuron-vllm:0.9.9, which is one of hf-vllm; use tgi-3.3.5, tgi-3.3.6, tgi-3.3.7 or tgi-dlc-3.3.6"
        ],
    ),
    "image beside a repository": (
        tgi(image="registry.example/tgi:9", repository=COPY),
        [
            "'engine.image' must be a key of the catalogue beside 'repository', which is where it is pulled from, got 'registry.example/tgi:9'; leave one out"
        ],
    ),
    "tag of nothing": (
        tgi(tag="v1"),
        ["'engine.tag' is said of a repository of yours, got 'v1' alone; give 'repository' too"],
    ),
    "tag that is none": (
        tgi(repository=COPY, tag="a b"),
        ["'engine.tag' must be a tag or a digest of an image, as 1.0, got 'a b'"],
    ),
    "registry that is not known in the Region": (
        {"engine": TextGenerationEngine.hf_vllm(), "region": "eu-north-1"},
        [
            "'engine.image' must be in a registry that is known in eu-north-1, got hf-vllm-0.4.5; use hf-vllm-0.4.5-ghcr or a repository of yours"
        ],
    ),
    "registry of a Region without such hosts": (
        {"engine": TextGenerationEngine.hf_vllm(), "region": "us-west-1"},
        [
            "'engine.image' is in no registry of us-west-1 that is known, got hf-vllm-0.4.5; inf2 is not known to be offered there either (data of 2026-10-27); use the Region us-east-1, us-east-2, us-west-2, ap-northeast-1, ap-south-1, ap-southeast-1, ap-southeast-2, eu-central-1, …, or an image of yours where you know better"
        ],
    ),
    "repository with a name of one letter": (
        {"engine": TextGenerationEngine.tgi(repository=Repository("arn:aws:ecr:us-west-2:111111111111:repository/x"))},
        [
            "'engine.repository' must be the ARN of a repository of Amazon ECR, whose name has 2 to 256 small letters, digits and any of . _ - /, arn:aws:ecr:<region>:<account>:repository/<name>, got 'arn:aws:ecr:us-west-2:111111111111:repository/x'"
        ],
    ),
    "repository of another partition": (
        {
            "engine": TextGenerationEngine.tgi(
                repository=Repository("arn:aws-cn:ecr:cn-north-1:111111111111:repository/tgi")
            )
        },
        ["'engine.repository' must be of partition aws, got 'arn:aws-cn:ecr:cn-north-1:111111111111:repository/tgi'"],
    ),
    "key of callers as text": (
        tgi(environment={"API_KEY": "x"}),
        [
            "'engine.environment.API_KEY' must be left out: a secret would stand in the template, which Secrets Manager keeps; the token of the Hub is 'hub_token', of 'compile' for a model that a build compiles, and of the engine for one that is not precompiled, and the key of callers is that of 'authentication'"
        ],
    ),
    "token as text": (
        tgi(environment={"HUGGING_FACE_HUB_TOKEN": "abc"}),
        [
            "'engine.environment.HUGGING_FACE_HUB_TOKEN' must be left out: a secret would stand in the template, which Secrets Manager keeps; the token of the Hub is 'hub_token', of 'compile' for a model that a build compiles, and of the engine for one that is not precompiled, and the key of callers is that of 'authentication'"
        ],
    ),
    "token by another name": (
        tgi(environment={"EXTRA": "hf_abcdefghijklmnopqrst"}),
        [
            "'engine.environment.EXTRA' must be left out: a secret would stand in the template, which Secrets Manager keeps; the token of the Hub is 'hub_token', of 'compile' for a model that a build compiles, and of the engine for one that is not precompiled, and the key of callers is that of 'authentication'"
        ],
    ),
    "variable that is none": (
        tgi(environment={"MY-VARIABLE": "x"}),
        [
            "'engine.environment.MY-VARIABLE' must be the name of an environment variable, as LEVEL, got 'MY-VARIABLE' as a name"
        ],
    ),
    "value that refers": (
        tgi(environment={"LEVEL": "{{resolve:ssm:level}}"}),
        [
            "'engine.environment.LEVEL' must be one line without '${' and '{{resolve:', which CloudFormation and shells take for references, as some words, got '{{resolve:ssm:level}}'"
        ],
    ),
    "value of two lines": (
        tgi(environment={"LEVEL": "a\nb"}),
        [
            "'engine.environment.LEVEL' must be one line without '${' and '{{resolve:', which CloudFormation and shells take for references, as some words, got 'a\\nb'"
        ],
    ),
    "another port": (
        tgi(environment={"PORT": "9000"}),
        ["'engine.environment.PORT' must be 8080, where the load balancer asks, got '9000'; leave it out"],
    ),
    "variables that no task definition holds": (
        tgi(environment={"A": "x" * 70_000}),
        [
            "'engine.environment' must have 61440 bytes or fewer, names and values, got 70001: a task definition of ECS has 64 KiB; put what is large into the model's folder, or into an image of yours"
        ],
    ),
    "variables that contradict the model": (
        tgi(
            environment={
                "HF_NUM_CORES": "24",
                "MODEL_ID": "gpt2",
                "NEURON_RT_NUM_CORES": "24",
                "NEURON_RT_VISIBLE_CORES": "0-23",
            }
        ),
        [
            "'engine.environment.HF_NUM_CORES' must be 2 as 'tensor_parallel' of 'model' says, got '24'; leave it out",
            "'engine.environment.MODEL_ID' must be /model, where the task has the compiled model, got 'gpt2'; leave it out",
            "'engine.environment.NEURON_RT_NUM_CORES' must be 2, the NeuronCores that the task has, got '24'; leave it out",
            "'engine.environment.NEURON_RT_VISIBLE_CORES' must name 2 or more of 0-1, the NeuronCores that the task has, got '0-23'; leave it out",
        ],
    ),
    "variables that the launcher ends for": (
        tgi(
            environment={
                "MAX_INPUT_LENGTH": "1024",
                "MAX_INPUT_TOKENS": "4096",
                "MAX_BATCH_TOTAL_TOKENS": "10",
                "SHARDED": "true",
                "NUM_SHARD": "2",
            }
        ),
        [
            "'engine.environment.MAX_INPUT_LENGTH' must not stand beside MAX_INPUT_TOKENS, which 'max_input_tokens' of 'model' decides, got '1024'; leave it out",
            "'engine.environment.MAX_INPUT_TOKENS' must be 1 to 4095, less than 'sequence_length' of 'model', got '4096'; leave it out",
            "'engine.environment.MAX_BATCH_TOTAL_TOKENS' must be 4096 or more, 'sequence_length' of 'model', got '10'; leave it out",
            "'engine.environment.SHARDED' must be false: 'tensor_parallel' of 'model' shares it, in one process, got 'true'; leave it out",
            "'engine.environment.NUM_SHARD' must be 1: 'tensor_parallel' of 'model' shares it, in one process, got '2'; leave it out",
        ],
    ),
    "NeuronCores that are grouped": (
        tgi(environment={"NEURON_LOGICAL_NC_CONFIG": "2", "NEURON_CC_FLAGS": "--verbose=1 --lnc=2"}),
        [
            "'engine.environment.NEURON_LOGICAL_NC_CONFIG' must be 1 on inf2, whose NeuronCores cannot be grouped, got '2'; leave it out",
            "'engine.environment.NEURON_CC_FLAGS' must take each NeuronCore for one on inf2, whose NeuronCores cannot be grouped, got '--verbose=1 --lnc=2'; leave it out",
        ],
    ),
    "fewer prompts in a batch than one": (
        tgi(environment={"MAX_BATCH_PREFILL_TOKENS": "1024"}),
        [
            "'engine.environment.MAX_BATCH_PREFILL_TOKENS' must be 2048 or more as MAX_INPUT_TOKENS says, got '1024'; leave it out"
        ],
    ),
    "a prompt that is longer than those of a batch": (
        {"of_model": {"batch": 1}, **tgi(environment={"MAX_INPUT_TOKENS": "3000"})},
        [
            "'engine.environment.MAX_INPUT_TOKENS' must be at most 2048 as MAX_BATCH_PREFILL_TOKENS says, unless 'max_input_tokens' of 'model' is more, got '3000'; leave it out"
        ],
    ),
    "prompts of a batch that are more than a batch": (
        tgi(environment={"MAX_BATCH_PREFILL_TOKENS": "20000", "MAX_BATCH_TOTAL_TOKENS": "16384"}),
        [
            "'engine.environment.MAX_BATCH_TOTAL_TOKENS' must be 20000 or more as MAX_BATCH_PREFILL_TOKENS says, got '16384'; leave it out"
        ],
    ),
    "room for no request": (
        tgi(environment={"MAX_CONCURRENT_REQUESTS": "0", "VALIDATION_WORKERS": "00"}),
        [
            "'engine.environment.MAX_CONCURRENT_REQUESTS' must be 1 or more, got '0'; leave it out",
            "'engine.environment.VALIDATION_WORKERS' must be 1 or more, got '00'; leave it out",
        ],
    ),
    "what the launcher cannot read": (
        tgi(
            environment={
                "MAX_BEST_OF": "two",
                "MAX_CLIENT_BATCH_SIZE": "1.5",
                "PROMETHEUS_PORT": "metrics",
                "WAITING_SERVED_RATIO": "1,2",
                "TRUST_REMOTE_CODE": "True",
                "JSON_OUTPUT": "1",
                "SHARDED": "",
                "USAGE_STATS": "none",
                "ROPE_SCALING": "yarn",
            }
        ),
        [
            "'engine.environment.MAX_BEST_OF' must be a whole number, got 'two'; leave it out",
            "'engine.environment.MAX_CLIENT_BATCH_SIZE' must be a whole number, got '1.5'; leave it out",
            "'engine.environment.PROMETHEUS_PORT' must be a whole number, got 'metrics'; leave it out",
            "'engine.environment.WAITING_SERVED_RATIO' must be a number, got '1,2'; leave it out",
            "'engine.environment.TRUST_REMOTE_CODE' must be true or false, got 'True'; leave it out",
            "'engine.environment.JSON_OUTPUT' must be true or false, got '1'; leave it out",
            "'engine.environment.SHARDED' must be true or false, got ''; leave it out",
            "'engine.environment.USAGE_STATS' must be on, off or no-stack, got 'none'; leave it out",
            "'engine.environment.ROPE_SCALING' must be linear or dynamic, got 'yarn'; leave it out",
        ],
    ),
    "what the server for Neuron devices has no option for": (
        tgi(environment={"DTYPE": "float16", "QUANTIZE": "awq", "KV_CACHE_DTYPE": "fp8_e5m2", "SPECULATE": "2"}),
        [
            f"'engine.environment.{name}' must be left out: TGI's server for Neuron devices has no such option, and ends, got {got!r}"
            for name, got in (
                ("DTYPE", "float16"),
                ("QUANTIZE", "awq"),
                ("KV_CACHE_DTYPE", "fp8_e5m2"),
                ("SPECULATE", "2"),
            )
        ],
    ),
    "variables of an earlier TGI": (
        tgi(environment={"HF_BATCH_SIZE": "8", "HF_SEQUENCE_LENGTH": "2048"}),
        [
            "'engine.environment.HF_BATCH_SIZE' must be 4 as 'batch' of 'model' says, got '8'; leave it out",
            "'engine.environment.HF_SEQUENCE_LENGTH' must be 4096 as 'sequence_length' of 'model' says, got '2048'; leave it out",
        ],
    ),
    "counts that are no numbers": (
        tgi(environment={"MAX_INPUT_TOKENS": "x", "MAX_WAITING_TOKENS": "-1"}),
        [
            "'engine.environment.MAX_INPUT_TOKENS' must be a whole number, got 'x'; leave it out",
            "'engine.environment.MAX_WAITING_TOKENS' must be a whole number, got '-1'; leave it out",
        ],
    ),
    "secrets by the last words of their names": (
        tgi(environment=SECRETS),
        [
            f"'engine.environment.{name}' must be left out: a secret would stand in the template, which Secrets Manager keeps; the token of the Hub is 'hub_token', of 'compile' for a model that a build compiles, and of the engine for one that is not precompiled, and the key of callers is that of 'authentication'"
            for name in SECRETS
        ],
    ),
    "arguments of vLLM that are more than what is compiled": (
        {
            "engine": TextGenerationEngine.hf_vllm(
                environment={
                    "SM_ON_MAX_MODEL_LEN": "8192",
                    "SM_ON_MAX_NUM_SEQS": "5",
                    "SM_ON_PIPELINE_PARALLEL_SIZE": "2",
                    "SM_ON_DATA_PARALLEL_SIZE": "2",
                }
            )
        },
        [
            "'engine.environment.SM_ON_MAX_MODEL_LEN' must be at most 4096 as 'sequence_length' of 'model' says, got '8192'; leave it out",
            "'engine.environment.SM_ON_MAX_NUM_SEQS' must be at most 4 as 'batch' of 'model' says, got '5'; leave it out",
            "'engine.environment.SM_ON_PIPELINE_PARALLEL_SIZE' must be 1: 'tensor_parallel' of 'model' shares it, in one process, got '2'; leave it out",
            "'engine.environment.SM_ON_DATA_PARALLEL_SIZE' must be 1: 'tensor_parallel' of 'model' shares it, in one process, got '2'; leave it out",
        ],
    ),
    "a time-out that vLLM cannot read": (
        {"engine": TextGenerationEngine.hf_vllm(environment={"VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "10m"})},
        ["'engine.environment.VLLM_HTTP_TIMEOUT_KEEP_ALIVE' must be a whole number, got '10m'; leave it out"],
    ),
    "copies that vLLM cannot read": (
        {"engine": TextGenerationEngine.hf_vllm(environment={"SM_ON_DATA_PARALLEL_SIZE": "two"})},
        [
            "'engine.environment.SM_ON_DATA_PARALLEL_SIZE' must be 1: 'tensor_parallel' of 'model' shares it, in one process, got 'two'; leave it out",
        ],
    ),
    "image on the host itself": (
        tgi(image="localhost:5000/x:1"),
        ["'engine.image' must be in a registry at an address that another host has, got 'localhost:5000/x:1'"],
    ),
    "image in a domain of another partition": (
        tgi(image="111111111111.dkr.ecr.us-east-1.amazonaws.com.cn/x:1"),
        [
            "'engine.image' must have the domain of partition aws, where us-east-1 is, got '111111111111.dkr.ecr.us-east-1.amazonaws.com.cn/x:1'; use amazonaws.com in place of amazonaws.com.cn"
        ],
    ),
    "image of another partition": (
        tgi(image="111111111111.dkr.ecr.cn-north-1.amazonaws.com.cn/x:1"),
        [
            "'engine.image' must be in a registry of partition aws, got '111111111111.dkr.ecr.cn-north-1.amazonaws.com.cn/x:1' of aws-cn; copy it to one there"
        ],
    ),
    "a number of thousands of digits": (
        tgi(environment={"NEURON_RT_NUM_CORES": "7" * 5000}),
        [
            f"'engine.environment.NEURON_RT_NUM_CORES' must be 2, the NeuronCores that the task has, got {shown('7' * 5000)}; leave it out"
        ],
    ),
    "cores that run backwards": (
        tgi(environment={"NEURON_RT_VISIBLE_CORES": "1-0"}),
        [
            "'engine.environment.NEURON_RT_VISIBLE_CORES' must name 2 or more of 0-1, the NeuronCores that the task has, got '1-0'; leave it out"
        ],
    ),
    "thousands of lists of cores": (
        tgi(environment={"NEURON_RT_VISIBLE_CORES": ",".join(["0-9999"] * 8000)}),
        [
            f"'engine.environment.NEURON_RT_VISIBLE_CORES' must name 2 or more of 0-1, the NeuronCores that the task has, got {shown(','.join(['0-9999'] * 8000))}; leave it out"
        ],
    ),
    "connections that end before the load balancer's": (
        {"engine": TextGenerationEngine.hf_vllm(environment={"VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "5"})},
        [
            "'engine.environment.VLLM_HTTP_TIMEOUT_KEEP_ALIVE' must be more than 600, the load balancer's idle time-out, or callers get 502 now and then, got '5'; leave it out"
        ],
    ),
    "a model by variables of another server": (
        {"engine": TextGenerationEngine.hf_vllm(environment={"HF_MODEL_ID": "a/b", "MODEL_ID": "gpt2"})},
        [
            f"'engine.environment.{name}' must be left out: nothing in an image of hf-vllm reads it, which serves what 'model' says, got '{value}'"
            for name, value in (("HF_MODEL_ID", "a/b"), ("MODEL_ID", "gpt2"))
        ],
    ),
    "no plugins, and so no Neuron": (
        {"engine": TextGenerationEngine.hf_vllm(environment={"VLLM_PLUGINS": ""})},
        [
            "'engine.environment.VLLM_PLUGINS' must name optimum_neuron, without which vLLM finds no Neuron device, got ''; leave it out"
        ],
    ),
    "the plugin of another engine": (
        {"engine": TextGenerationEngine.neuron_vllm(environment={"VLLM_PLUGINS": "optimum_neuron"})},
        [
            "'engine.environment.VLLM_PLUGINS' must name neuron, without which vLLM finds no Neuron device, got 'optimum_neuron'; leave it out"
        ],
    ),
    "type without Neuron devices": (
        {"of_hosts": {"instance_type": "trn1.2xlarge"}},
        [
            "'hosts.instance_type' must be inf2.xlarge, inf2.8xlarge, inf2.24xlarge or inf2.48xlarge, got 'trn1.2xlarge'; a model is served on Inferentia2 alone"
        ],
    ),
    "fewer tasks than none": ({"of_hosts": {"tasks": -1}}, ["'hosts.tasks' must be 0 to 5000, got -1"]),
    "more tasks than a service has": ({"of_hosts": {"tasks": 5001}}, ["'hosts.tasks' must be 0 to 5000, got 5001"]),
    "tasks above their bounds": (
        {"of_hosts": {"tasks": 5}, **scaled()},
        ["'hosts.tasks' must be 1 to 4 as 'scaling' says, got 5; use 4, or widen the bounds"],
    ),
    "fewer hosts than tasks": (
        {"of_hosts": {"tasks": 3, "max_hosts": 2}},
        ["'hosts.max_hosts' must be 3 or more, one for each task, got 2; raise it, or lower the tasks"],
    ),
    "fewer hosts than a schedule asks for": (
        {"of_hosts": {"max_hosts": 4}, **scaled(schedules=[replace(DAY, max_tasks=8)])},
        ["'hosts.max_hosts' must be 8 or more, one for each task, got 4; raise it, or lower the tasks"],
    ),
    "surge without hosts": (
        {"of_hosts": {"tasks": 2, "max_hosts": 3, "rollout": Rollout.SURGE}},
        [
            "'hosts.max_hosts' must be 4 or more for 'rollout' surge of 2 tasks, got 3; raise it, or use 'rollout' rolling"
        ],
    ),
    "rolling a single task": (
        {"of_hosts": {"rollout": Rollout.ROLLING}},
        [
            "'hosts.rollout' must be recreate or surge for a single task, got rolling with 1: there is no host for the new task while the old one runs, and no deployment would end; keep 2 tasks or more, or use recreate or surge"
        ],
    ),
    "rolling what scales to one": (
        {"of_hosts": {"tasks": 2, "rollout": Rollout.ROLLING}, **scaled()},
        [
            "'hosts.rollout' must be recreate or surge for a single task, got rolling with 1 by 'scaling': there is no host for the new task while the old one runs, and no deployment would end; keep 2 tasks or more, or use recreate or surge"
        ],
    ),
    "rolling what a schedule takes to one": (
        {"of_hosts": {"tasks": 2, "rollout": Rollout.ROLLING}, **scaled(min_tasks=2, schedules=[DAY])},
        [
            "'hosts.rollout' must be recreate or surge for a single task, got rolling with 1 by 'scaling': there is no host for the new task while the old one runs, and no deployment would end; keep 2 tasks or more, or use recreate or surge"
        ],
    ),
    "to zero by requests": (
        scaled(min_tasks=0, metric=ScalingMetric.ALB_REQUESTS),
        [
            "'scaling.min_tasks' must be 1 or more with metric alb-requests, got 0: without a task the load balancer counts no request per task, so nothing would start one; use 1, and 'schedules' for the hours without any"
        ],
    ),
    "to zero by the queue": (
        scaled(min_tasks=0),
        [
            "'scaling.min_tasks' must be 1 or more with metric queue, got 0: without a task no engine reports a queue, so nothing would start one; use 1, and 'schedules' for the hours without any"
        ],
    ),
    "to zero and never back": (
        scaled(schedules=[NIGHT]),
        [
            "'scaling.schedules[0]' must not end the last task without a schedule that brings tasks back, with 'min_tasks' 1 or more"
        ],
    ),
    "to zero every evening and back once": (
        scaled(schedules=[NIGHT, replace(DAY, schedule="at(2027-01-01T00:00:00)")]),
        [
            "'scaling.schedules[0]' must not end the last task again and again where tasks are brought back for the last time by 'at(2027-01-01T00:00:00)'; give 'day' a cron(…) of every year"
        ],
    ),
    "to zero every evening and back in one year": (
        scaled(schedules=[NIGHT, replace(DAY, schedule="cron(0 6 1 1 ? 2027)")]),
        [
            "'scaling.schedules[0]' must not end the last task again and again where tasks are brought back for the last time by 'cron(0 6 1 1 ? 2027)'; give 'day' a cron(…) of every year"
        ],
    ),
    "back for a year before it goes to zero": (
        scaled(
            schedules=[
                replace(NIGHT, schedule="at(2028-01-01T00:00:00)"),
                replace(DAY, schedule="cron(0 6 ? * MON-FRI 2026-2027)"),
            ]
        ),
        [
            "'scaling.schedules[0].schedule' must be before 'cron(0 6 ? * MON-FRI 2026-2027)', the last time that tasks are brought back, got 'at(2028-01-01T00:00:00)'; bring them back later"
        ],
    ),
    "two bounds at times that meet": (
        scaled(schedules=[DAY, replace(DAY, name="more", schedule="cron(0 6 ? * FRI *)", max_tasks=4)]),
        [
            "'scaling.schedules[1].schedule' must be another time than that of 'day', got 'cron(0 6 ? * FRI *)', which meets 'cron(0 6 ? * MON-FRI *)', with other bounds: nobody knows which of both hold from then on"
        ],
    ),
    "two bounds at one time": (
        scaled(schedules=[DAY, replace(DAY, name="more", max_tasks=4)]),
        [
            "'scaling.schedules[1].schedule' must be another time than that of 'day', got 'cron(0 6 ? * MON-FRI *)' again, with other bounds: nobody knows which of both hold from then on"
        ],
    ),
    "more schedules than there are": (
        scaled(schedules=[replace(DAY, name=f"day{number}") for number in range(201)]),
        [
            "'scaling.schedules' must be 200 or fewer, got 201: Application Auto Scaling takes no more; a cron(…) may name several days and hours"
        ],
    ),
    "back before it goes to zero": (
        scaled(
            schedules=[
                replace(NIGHT, schedule="at(2027-02-01T00:00:00)"),
                replace(DAY, schedule="at(2027-01-01T00:00:00)"),
            ]
        ),
        [
            "'scaling.schedules[0].schedule' must be before 'at(2027-01-01T00:00:00)', the last time that tasks are brought back, got 'at(2027-02-01T00:00:00)'; bring them back later"
        ],
    ),
    "bounds upside down": (
        scaled(min_tasks=3, max_tasks=2, target=-1),
        ["'scaling.max_tasks' must be 3 or more, got 2", "'scaling.target' must be more than 0, got -1"],
    ),
    "pause of less than nothing": (
        scaled(cooldown_seconds=-1),
        ["'scaling.cooldown_seconds' must be 0 to 604800, got -1"],
    ),
    "schedule from zero": (
        scaled(schedules=[replace(DAY, min_tasks=0)]),
        [
            "'scaling.schedules[0].min_tasks' must be 1 or more, or 'max_tasks' 0 as well, got 0 and 2: from zero tasks no metric starts one"
        ],
    ),
    "schedule upside down": (
        scaled(schedules=[replace(DAY, min_tasks=3)]),
        ["'scaling.schedules[0].min_tasks' must be at most 'max_tasks' 2, got 3"],
    ),
    "schedule that is none": (
        scaled(schedules=[replace(DAY, schedule="0 6 * * *")]),
        [
            "'scaling.schedules[0].schedule' must be a schedule, as cron(0 20 ? * MON-FRI *) or at(2026-12-24T18:00:00), got '0 6 * * *'"
        ],
    ),
    "a place of what comes at intervals": (
        scaled(schedules=[replace(DAY, schedule="rate(12 hours)", time_zone="Europe/Berlin")]),
        [
            "'scaling.schedules[0].time_zone' must be left out beside 'rate(12 hours)', which comes at intervals, got 'Europe/Berlin'; give a cron(…) or an at(…) for a time of a place"
        ],
    ),
    "schedule in no time zone": (
        scaled(schedules=[replace(DAY, time_zone="Europe/Berln")]),
        [
            "'scaling.schedules[0].time_zone' must be a time zone, as Europe/Berlin, got 'Europe/Berln'; did you mean 'Europe/Berlin' or 'Europe/Belfast' or 'Europe/Helsinki'?"
        ],
    ),
    "schedule with a name that is none": (
        scaled(schedules=[replace(DAY, name="day/night")]),
        [
            "'scaling.schedules[0].name' must be a name without ':', '/', '|' and what nobody sees, and without a blank at its ends, as night, got 'day/night'"
        ],
    ),
    "schedule with a name that has what nobody sees": (
        scaled(schedules=[replace(DAY, name="da\u200by")]),
        [
            "'scaling.schedules[0].name' must be a name without ':', '/', '|' and what nobody sees, and without a blank at its ends, as night, got 'da\\u200by'"
        ],
    ),
    "schedules of one name": (
        scaled(schedules=[DAY, DAY]),
        ["'scaling.schedules[1].name' must be another than those of the schedules before it, got 'day' again"],
    ),
    "slow volume": ({"of_hosts": {"volume_mib_s": 100}}, ["'hosts.volume_mib_s' must be 125 to 2000 MiB/s, got 100"]),
    "request of two hours": (
        {"request_timeout": Span(7200)},
        ["'request_timeout' must be 30 to 3600 seconds, got 7200"],
    ),
    "keys of another Region": (
        {
            "of_hosts": {
                "volume_key": Key("arn:aws:kms:us-east-1:111111111111:key/11111111-89ab-cdef-0123-456789abcdef")
            }
        },
        [
            "'hosts.volume_key' must be of Region us-west-2, got 'arn:aws:kms:us-east-1:111111111111:key/11111111-89ab-cdef-0123-456789abcdef'"
        ],
    ),
}


@pytest.mark.parametrize(("changes", "expected"), SERVICES.values(), ids=SERVICES)
def test_fails_a_service(changes: dict[str, Any], expected: list[str]) -> None:
    assert of_service(**changes) == expected


UNCHECKED = {
    "sequence that the model was not made for",
    "batch that does not fit",
    "model that does not fit",
    "model that the host cannot load",
    "model that a smaller host holds with a smaller batch",
    "model that the host cannot compile",
    "pieces per core that the host cannot load",
    "eight bits with tgi",
    "architecture that Neuron's vLLM does not look for",
    "architecture that another engine serves",
    "architecture that no engine is known to serve",
    "new driver",
    "image of another family",
    "image of another server by its key",
    "image of another server by its reference",
    "variables that the launcher ends for",
    "fewer prompts in a batch than one",
    "a prompt that is longer than those of a batch",
    "prompts of a batch that are more than a batch",
    "room for no request",
    "what the launcher cannot read",
    "what the server for Neuron devices has no option for",
    "counts that are no numbers",
    "copies that vLLM cannot read",
    "arguments of vLLM that are more than what is compiled",
    "a model by variables of another server",
    "no plugins, and so no Neuron",
    "the plugin of another engine",
}
"""What the catalogue, or what is known of an engine, or the arithmetic alone speaks against."""


@pytest.mark.parametrize(("changes", "expected"), SERVICES.values(), ids=SERVICES)
def test_takes_unchecked_what_only_the_catalogue_speaks_against(
    changes: dict[str, Any], expected: list[str], request: pytest.FixtureRequest
) -> None:
    engine = replace(changes.get("engine") or TextGenerationEngine.tgi(), unchecked=True)
    found = of_service(**{**changes, "engine": engine})
    assert found == ([] if request.node.callspec.id in UNCHECKED else expected)


LOAD_BALANCERS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no certificate": (
        {"certificate": None},
        [
            "'certificate' must be given, since the load balancer speaks HTTPS; request one of ACM in the same Region, or say 'plain_http' for an internal one"
        ],
    ),
    "certificate of another Region": (
        {"certificate": Certificate(CERTIFICATE.replace(REGION, "us-east-1"))},
        [
            "'certificate' must be of Region us-west-2, got 'arn:aws:acm:us-east-1:111111111111:certificate/12345678-1234-1234-1234-123456789012'"
        ],
    ),
    "certificate beside plain HTTP": (
        {"plain_http": True},
        ["'plain_http' must be left out beside 'certificate'; the load balancer then speaks HTTPS alone"],
    ),
    "public without authentication": (
        {"public": True, "authentication": ClientAuthentication.none()},
        ["'authentication.kind' must be jwt or api-key for a public load balancer, got none; use jwt"],
    ),
    "public and plain": (
        {"public": True, "plain_http": True, "certificate": None},
        [
            "'plain_http' must not be said for a public load balancer; give a 'certificate' of ACM in the same Region",
            "'authentication.kind' must be api-key or none over plain HTTP, got jwt: the load balancer verifies tokens on HTTPS listeners only; give it a certificate",
        ],
    ),
    "tokens over plain HTTP": (
        {"plain_http": True, "certificate": None},
        [
            "'authentication.kind' must be api-key or none over plain HTTP, got jwt: the load balancer verifies tokens on HTTPS listeners only; give it a certificate"
        ],
    ),
    "tokens of nobody": (
        jwt(issuer=None, key_set_url=None),
        [
            "'authentication.issuer' must be given for kind jwt",
            "'authentication.key_set_url' must be given for kind jwt",
        ],
    ),
    "issuer of two lines": (
        jwt(issuer="issuer.example\n"),
        [
            "'authentication.issuer' must be one line to the letter, without blanks at its ends, invisible characters, '${' and '{{resolve:', as https://issuer.example/pool, got 'issuer.example\\n'"
        ],
    ),
    "issuer that is what tells of it": (
        jwt(issuer="https://issuer.example/pool/.well-known/openid-configuration"),
        [
            "'authentication.issuer' must be what tokens have as 'iss', got 'https://issuer.example/pool/.well-known/openid-configuration', which is an address below it; use https://issuer.example/pool"
        ],
    ),
    "issuer that is a pattern": (
        jwt(issuer="https://issuer.example/*"),
        [
            "'authentication.issuer' must be what tokens have as 'iss', got 'https://issuer.example/*': it is compared to the letter, '*' too"
        ],
    ),
    "keys without a path": (
        jwt(key_set_url="https://issuer.example"),
        [
            "'authentication.key_set_url' must have a path, got 'https://issuer.example': give the whole address of the keys, as https://issuer.example/.well-known/jwks.json"
        ],
    ),
    "issuer that is too long": (
        jwt(issuer=f"https://issuer.example/{'x' * 256}"),
        ["'authentication.issuer' must have 1 to 256 characters, got 279"],
    ),
    "keys over plain HTTP": (
        jwt(key_set_url="http://issuer.example/keys"),
        [
            "'authentication.key_set_url' must be an https URL, as https://issuer.example/pool, got 'http://issuer.example/keys'"
        ],
    ),
    "keys at another port": (
        jwt(key_set_url="https://issuer.example:8443/keys"),
        [
            "'authentication.key_set_url' must be at port 443, got 'https://issuer.example:8443/keys': the load balancer's security group lets it out there alone"
        ],
    ),
    "keys in a private network": (
        jwt(key_set_url="https://keycloak.corp.internal/keys"),
        [
            "'authentication.key_set_url' must be at a domain of the internet, got 'https://keycloak.corp.internal/keys': the load balancer fetches the keys from there"
        ],
    ),
    "a document that tells where the keys are": (
        jwt(key_set_url="https://issuer.example/pool/.well-known/openid-configuration"),
        [
            "'authentication.key_set_url' must be that of the keys, got 'https://issuer.example/pool/.well-known/openid-configuration', which is what tells it; give what stands there as 'jwks_uri'"
        ],
    ),
    "tokens of anybody": (
        jwt(claims=()),
        [
            "'authentication.claims' must be 1 to 10, got none: without one any token of the issuer passes, also another application's; use client_id, scope or aud"
        ],
    ),
    "more claims than are looked at": (
        jwt(claims=[JwtClaim(name=f"claim{number}", values=["a"]) for number in range(11)]),
        ["'authentication.claims' must be 10 or fewer, got 11"],
    ),
    "claims that stand twice": (
        jwt(
            claims=[
                *(JwtClaim(name="aud", values=[value]) for value in "ab"),
                *(
                    JwtClaim(name="scope", values=list(values), format=ClaimFormat.SPACE_SEPARATED)
                    for values in ("ab", "ba")
                ),
            ]
        ),
        [
            "'authentication.claims[1].name' must be another than those of the claims before it, got 'aud' again; give all of its values in one claim",
            "'authentication.claims[3].name' must be another than those of the claims before it, got 'scope' again; give all of its values in one claim",
        ],
    ),
    "claim that is always checked": (
        claim("iss"),
        [
            "'authentication.claims[0].name' must be another than iss, which the load balancer always checks; leave the claim out"
        ],
    ),
    "claim without values": (claim(values=[]), ["'authentication.claims[0].values' must be 1 to 10 values, got none"]),
    "claim with eleven values": (
        claim(values=list("abcdefghijk")),
        ["'authentication.claims[0].values' must be 1 to 10 values, got 11"],
    ),
    "claim with an empty value": (
        claim(values=[""]),
        ["'authentication.claims[0].values[0]' must have 1 to 256 characters, got 0"],
    ),
    "claim with a value that refers": (
        claim(values=["${x}"]),
        [
            "'authentication.claims[0].values[0]' must be one line to the letter, without blanks at its ends, invisible characters, '${' and '{{resolve:', as chat, got '${x}'"
        ],
    ),
    "claim of two words in one": (
        claim(values=["a b"], format=ClaimFormat.SPACE_SEPARATED),
        [
            "'authentication.claims[0].values[0]' must be without blanks in format space-separated-values, got 'a b'; give each word apart"
        ],
    ),
    "key that is nowhere": (
        {"authentication": ClientAuthentication(kind=AuthenticationKind.API_KEY)},
        ["'authentication.secret' must be given for kind api-key"],
    ),
    "options of another kind": (
        jwt(secret=SECRET, secret_key=KEY),
        [
            "'authentication.secret' must be left out of kind jwt, which does not look at it",
            "'authentication.secret_key' must be left out of kind jwt, which does not look at it",
        ],
    ),
    "nobody reaches it": (
        {"clients": ()},
        [
            "'clients' must name 1 block or more, got none; without it, the VPC reaches an internal load balancer, and anybody a public one"
        ],
    ),
    "clients in another notation": (
        {"clients": ["10.1.0.0/255.255.0.0"]},
        ["'clients[0]' must be an IPv4 block, as 10.1.0.0/16, got '10.1.0.0/255.255.0.0'"],
    ),
    "clients with bits behind the mask": (
        {"clients": ["10.1.0.1/16"]},
        ["'clients[0]' must begin where its mask says, got '10.1.0.1/16'; use 10.1.0.0/16"],
    ),
    "domain name that is a URL": (
        {"domain_name": "https://models.example.com"},
        [
            "'domain_name' must be a domain name alone, without scheme, port, path or wildcard, as models.example.com, got 'https://models.example.com'"
        ],
    ),
    "domain name of AWS's": (
        {"domain_name": "door-1.us-west-2.elb.amazonaws.com"},
        [
            "'domain_name' must be a name of a domain of yours, which the certificate is for, got 'door-1.us-west-2.elb.amazonaws.com' of AWS's; leave it out for the load balancer's own name"
        ],
    ),
    "metrics let in": (
        {"paths": ["/v1/*", "/metrics"]},
        ["'paths[1]' must not let in /metrics, got '/metrics'; use '/v1/*'"],
    ),
    "everything let in": (
        {"paths": ["/*"]},
        [
            "'paths[0]' must not let in /metrics, /invocations, /info, /generate, /tokenize or /health, got '/*'; use '/v1/*'"
        ],
    ),
    "no path": ({"paths": []}, ["'paths' must name 1 path or more, got none; use '/v1/*'"]),
    "path without a slash": (
        {"paths": ["v1/*"]},
        ["'paths[0]' must be a path pattern that begins with '/', as /v1/*, got 'v1/*'"],
    ),
    "paths with a query, a variable and an escape": (
        {"paths": ["/v1/*?x=1", "/v1/{x}", "/v1/%2e%2e/*"]},
        [
            f"'paths[{index}]' must be a path pattern without {sign!r}, as /v1/*, got {path!r}; use letters, digits and _ . $ / ~ \" ' @ : + & * ? -"
            for index, (sign, path) in enumerate((("=", "/v1/*?x=1"), ("{", "/v1/{x}"), ("%", "/v1/%2e%2e/*")))
        ],
    ),
    "paths that no request has when they are compared": (
        {"paths": ["/v1/../*", "/v1/./models"]},
        [
            f"'paths[{index}]' must be without '.' and '..' as parts, got {path!r}: the load balancer resolves them before it compares a path"
            for index, path in enumerate(("/v1/../*", "/v1/./models"))
        ],
    ),
    "path with an ellipsis": ({"paths": ["/v1/..*"]}, []),
    "too many paths": (
        {"paths": ["/v1/a", "/v1/b", "/v1/c", "/v1/d"]},
        ["'paths' must be 3 or fewer, got 4: a rule takes 5 values, and GET and POST are two of them"],
    ),
    "too many wildcards": (
        {"paths": ["/v1/*/*/*", "/v1/a/*/*?", "/v1/*"]},
        [
            "'paths' must have 6 or fewer of '*' and '?' together, got 7: a rule takes no more, and one '*' stands for any number of folders"
        ],
    ),
    "a route that asks for no key": (
        {"paths": ["/v1/*", "/rerank", "/load"], **key()},
        [
            "'paths[1]' must begin with '/v1/' for kind api-key, got '/rerank': elsewhere an engine may ask nobody for the key; use '/v1/*'",
            "'paths[2]' must begin with '/v1/' for kind api-key, got '/load': elsewhere an engine may ask nobody for the key; use '/v1/*'",
        ],
    ),
    "a path in upper case": (
        {"paths": ["/V1/*"]},
        ["'paths[0]' must begin with '/v1/' in lower case, got '/V1/*': paths are told apart by case; use '/v1/*'"],
    ),
    "clients of nobody's internet": (
        {"public": True, "clients": ["10.0.0.0/8", "100.64.0.0/10"]},
        [
            "'clients' must name addresses of the internet for a public load balancer, got private ones alone: who calls it from there arrives with another; name those, or leave 'public' out"
        ],
    ),
    "more clients than rules": (
        {"clients": [f"10.{number // 256}.{number % 256}.0/24" for number in range(1001)]},
        ["'clients' must be 1000 blocks or fewer, got 1001: a security group takes no more rules; name larger blocks"],
    ),
    "no request at a time": (
        {"concurrency": ConcurrencyLimit(requests=0)},
        ["'concurrency.requests' must be 1 to 1000, got 0"],
    ),
    "agent of another partition": (
        {"concurrency": ConcurrencyLimit(image="111111111111.dkr.ecr.cn-north-1.amazonaws.com.cn/agent:1")},
        [
            "'concurrency.image' must be in a registry of partition aws, got '111111111111.dkr.ecr.cn-north-1.amazonaws.com.cn/agent:1' of aws-cn; copy it to one there"
        ],
    ),
    "agent that is no image": (
        {"concurrency": ConcurrencyLimit(image="agent latest")},
        [
            "'concurrency.image' must be an image with its registry, and a tag or a digest unless it is latest, as registry.example.com/team/image:1.0, got 'agent latest'"
        ],
    ),
}


@pytest.mark.parametrize(("changes", "expected"), LOAD_BALANCERS.values(), ids=LOAD_BALANCERS)
def test_fails_a_load_balancer(changes: dict[str, Any], expected: list[str]) -> None:
    assert of_load_balancer(**changes) == expected


THRESHOLDS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "thresholds of nothing": (
        {"latency_seconds": 0, "waiting": -1, "error_percent": 0},
        [
            "'latency_seconds' must be more than 0, got 0",
            "'waiting' must be more than 0, got -1",
            "'error_percent' must be more than 0, got 0",
        ],
    ),
    "latency that no request reaches": (
        {"latency_seconds": 601},
        [
            "'latency_seconds' must be at most 600, the longest that a request may take, got 601: such an alarm never rings"
        ],
    ),
    "more than all": ({"error_percent": 101}, ["'error_percent' must be at most 100, got 101"]),
}


@pytest.mark.parametrize(("changes", "expected"), THRESHOLDS.values(), ids=THRESHOLDS)
def test_fails_thresholds(changes: dict[str, Any], expected: list[str]) -> None:
    assert of_monitoring(**changes) == expected


def test_says_everything_at_once() -> None:
    found = of_service(
        of_model={"tensor_parallel": 3, "batch": 0, "prefix": ""},
        of_hosts={"volume_mib_s": 1, "host_image": "20260918"},
    )
    assert [text.split(" must")[0] for text in found] == [
        "'model.prefix'", "'model.tensor_parallel'", "'model.batch'", "'hosts.volume_mib_s'", "'hosts.host_image'",
    ]  # fmt: skip


MISTRAL: dict[str, Any] = {"of_model": {"preset": "mistral-7b"}, "of_hosts": {"instance_type": "inf2.8xlarge"}}

RIGHT: dict[str, dict[str, Any]] = {
    "an architecture of which nothing is known": {
        **MISTRAL,
        "engine": TextGenerationEngine.neuron_vllm(image="neuron-vllm-0.9.1"),
    },
    "a mixture with Neuron's vLLM": {
        "of_model": {"preset": "qwen3-30b-a3b", "tensor_parallel": 8},
        "of_hosts": {"instance_type": "inf2.24xlarge"},
        "engine": TextGenerationEngine.neuron_vllm(image="neuron-vllm-0.11.0"),
    },
    "any architecture in an image of yours": {**MISTRAL, **tgi(image="registry.example.com/tgi:9")},
    "any architecture in a repository of yours": {**MISTRAL, **tgi(repository=COPY)},
    "an architecture unchecked": {**MISTRAL, **tgi(unchecked=True)},
    "a mixture with an engine that serves it": {
        "of_model": {"preset": "qwen3-30b-a3b", "tensor_parallel": 8},
        "of_hosts": {"instance_type": "inf2.24xlarge"},
        "engine": TextGenerationEngine.hf_vllm(),
    },
    "a shape that a volume holds, unchecked": {
        "of_model": {"shape": replace(OWN, parameters_billions=9000)},
        **tgi(unchecked=True),
    },
    "to zero once and back once": scaled(
        schedules=[
            replace(NIGHT, schedule="at(2026-12-24T18:00:00)"),
            replace(DAY, schedule="at(2027-01-01T00:00:00)"),
        ]
    ),
    "to zero and back for a year": scaled(
        schedules=[
            replace(NIGHT, schedule="cron(0 20 ? * MON-FRI 2027)"),
            replace(DAY, schedule="cron(0 6 ? * MON-FRI 2027)"),
        ]
    ),
    "to zero every evening and back by the hour": scaled(schedules=[NIGHT, replace(DAY, schedule="rate(12 hours)")]),
    "one time in two zones": scaled(schedules=[DAY, replace(DAY, name="more", max_tasks=4, time_zone="Europe/Berlin")]),
    "to zero in one year and back once": scaled(
        schedules=[
            replace(NIGHT, schedule="cron(0 20 24 12 ? 2026)"),
            replace(DAY, schedule="at(2027-01-01T00:00:00)"),
        ]
    ),
    "variables that the launcher reads": tgi(
        environment={
            "CUDA_MEMORY_FRACTION": "1",
            "HF_BATCH_SIZE": "4",
            "HF_SEQUENCE_LENGTH": "4096",
            "JSON_OUTPUT": "false",
            "MAX_BEST_OF": "1",
            "MAX_CLIENT_BATCH_SIZE": "1",
            "PAYLOAD_LIMIT": "1000000",
            "ROPE_SCALING": "dynamic",
            "USAGE_STATS": "no-stack",
            "WAITING_SERVED_RATIO": ".3e+1",
        }
    ),
    "options of another server in an image of yours": tgi(
        image="registry.example.com/tgi:9", environment={"DTYPE": "float16", "SPECULATE": "2"}
    ),
    "variables that the launcher takes": tgi(
        environment={
            "MAX_INPUT_TOKENS": "4095",
            "MAX_BATCH_PREFILL_TOKENS": "+16380",
            "MAX_BATCH_TOTAL_TOKENS": "16384",
            "MAX_CONCURRENT_REQUESTS": "1",
            "SHARDED": "false",
            "NUM_SHARD": "1",
            "NEURON_LOGICAL_NC_CONFIG": "1",
            "NEURON_CC_FLAGS": "--lnc=1",
        }
    ),
    "variables of another engine": {
        "engine": TextGenerationEngine.hf_vllm(
            environment={"MAX_INPUT_LENGTH": "1", "MODEL_ID": "/model", "SHARDED": "true"}
        )
    },
    "arguments of vLLM within what is compiled": {
        "engine": TextGenerationEngine.hf_vllm(
            environment={"SM_ON_MAX_MODEL_LEN": "2k", "SM_ON_MAX_NUM_SEQS": "4", "SM_ON_DATA_PARALLEL_SIZE": "1"}
        )
    },
    "pipelines in an image of yours": {
        "engine": TextGenerationEngine.hf_vllm(
            image="registry.example.com/vllm:1", environment={"SM_ON_PIPELINE_PARALLEL_SIZE": "2"}
        )
    },
    "an image of another Region": tgi(image="111111111111.dkr.ecr.eu-west-1.amazonaws.com/x:1"),
    "as many variables as a task definition holds": tgi(environment={"A": "x" * 61_439}),
    "the longest sequence that a model was made for": {
        "of_model": {"preset": "tinyllama-1.1b", "sequence_length": 2048, "batch": 1},
    },
    "a longer sequence of a shape": {"of_model": {"shape": OWN, "sequence_length": 8192}},
    "a host image of a leap day": {"of_hosts": {"host_image": "20280229"}},
    "a host image with a newer kernel": {
        "of_hosts": {"host_image": "al2023-ami-ecs-neuron-hvm-2023.0.20270301-kernel-6.12-x86_64"}
    },
    "switches and numbers with telling names": tgi(
        environment={"HF_HUB_DISABLE_IMPLICIT_TOKEN": "1", "MAX_INPUT_TOKENS": "512", "TOKENIZERS_PARALLELISM": "false"}
    ),
    "a name with a tag": {"of_model": {"name": "llama3.2:3b"}},
    "settings with names like those of secrets": tgi(
        environment={
            "AWS_AUTH_SCHEME_PREFERENCE": "sigv4a,sigv4",
            "SSH_AUTH_SOCK": "/run/agent.sock",
            "OTEL_EXPORTER_OTLP_CLIENT_KEY": "/models/client.key",
            "S3_KEY": "models/config.json",
            "PAD_TOKEN": "<|finetune_right_pad_id|>",
            "EOS_TOKEN": "</s>",
            "BOS_TOKEN": "begin_of_text",
            "STOP_TOKENS": "one,two,three",
            "API_KEY_HEADER": "X-Api-Key-Of-Callers",
            "AUTH_MODE": "openid-connect",
            "AUTH": "none",
            "KEY_SET_URL": "https://login.example.com/jwks",
            "SIGNING_KEY": "https://login.example.com/jwks",
            "SECRET_NAME": "serving/callers",
            "CALLERS_SECRET": "arn:aws:secretsmanager:us-west-2:111111111111:secret:callers-AbCdEf",
            "DB_PASSWORD": "<in Secrets Manager>",
            "KMS_KEY": "alias/serving-key",
            "HF_TOKEN_PATH": "cache/token",
        }
    ),
    "variables that say what the model says": {
        "of_model": {"tensor_parallel": 1},
        **tgi(
            environment={
                "HF_NUM_CORES": "1",
                "MODEL_ID": "/model",
                "NEURON_RT_NUM_CORES": "2",
                "NEURON_RT_VISIBLE_CORES": "1",
                "SM_ON_BATCH_SIZE": "64",
            }
        ),
    },
    "a model of the Hub that is not precompiled": {
        "of_model": {"precompiled": False},
        "of_hosts": {"instance_type": "inf2.8xlarge"},
        "engine": TextGenerationEngine.hf_vllm(
            environment={"SM_ON_MODEL": "meta-llama/Llama-3.2-3B", "VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "6_01"}
        ),
    },
    "connections that never end": {
        "engine": TextGenerationEngine.hf_vllm(environment={"VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "9" * 4000})
    },
    "an image of yours without a tag": tgi(image="111111111111.dkr.ecr.us-west-2.amazonaws.com/team/tgi"),
    "plugins with the one for Neuron": {
        "engine": TextGenerationEngine.hf_vllm(environment={"VLLM_PLUGINS": "lora_filesystem_resolver,optimum_neuron"})
    },
    "no plugins where Neuron is none": {
        "engine": TextGenerationEngine.neuron_vllm(image="neuron-vllm-0.9.1", environment={"VLLM_PLUGINS": ""})
    },
    "a model of TGI's that is not precompiled": {
        "of_model": {"precompiled": False},
        "of_hosts": {"instance_type": "inf2.8xlarge"},
        **tgi(environment={"MODEL_ID": "meta-llama/Llama-3.2-3B", "HF_MODEL_ID": "meta-llama/Llama-3.2-3B"}),
    },
    "a model by a variable of an image of yours": {
        "engine": TextGenerationEngine.neuron_vllm(image="registry.example.com/vllm:1", environment={"MODEL_ID": "a/b"})
    },
    "no plugins of an image of yours": {
        "engine": TextGenerationEngine.neuron_vllm(
            image="registry.example.com/vllm:1", environment={"VLLM_PLUGINS": ""}
        )
    },
    "plugins of another engine": tgi(environment={"VLLM_PLUGINS": ""}),
    "a copy of an image of the catalogue": tgi(image="tgi-3.3.6", repository=COPY, tag="3.3.6-neuron"),
    "a newer image of the same repository": tgi(image="ghcr.io/huggingface/text-generation-inference:3.4-neuron"),
    "rolling between two and four": {
        "of_hosts": {"tasks": 2, "rollout": Rollout.ROLLING},
        **scaled(min_tasks=2, schedules=[NIGHT, replace(DAY, min_tasks=2)]),
    },
    "surge of a schedule": {"of_hosts": {"rollout": Rollout.SURGE}, **scaled(schedules=[replace(DAY, max_tasks=8)])},
}


@pytest.mark.parametrize("changes", RIGHT.values(), ids=RIGHT)
def test_takes_a_service(changes: dict[str, Any]) -> None:
    assert of_service(**changes) == []


@pytest.mark.parametrize(
    ("engine", "refused"),
    [
        (TextGenerationEngine.tgi(environment={"HOSTNAME": "127.0.0.1"}), True),
        (TextGenerationEngine.hf_vllm(environment={"SM_ON_HOST": "localhost"}), True),
        (TextGenerationEngine.hf_vllm(environment={"HOSTNAME": "localhost"}), False),
        (TextGenerationEngine.neuron_vllm(environment={"HOSTNAME": "localhost", "SM_ON_HOST": "::1"}), False),
    ],
    ids=lambda value: value.kind if isinstance(value, TextGenerationEngine) else "",
)
def test_an_engine_listens_where_the_variable_of_its_own_says(engine: TextGenerationEngine, refused: bool) -> None:
    assert bool([*listening_problems(engine, None)]) is refused


@pytest.mark.parametrize(
    "host", ["10.0.0.1", "localhost", "keycloak", "KEYS.LOCAL", "nas.home.arpa", "x.onion", "a.test"]
)
def test_fails_keys_that_are_not_on_the_internet(host: str) -> None:
    (found,) = of_load_balancer(**jwt(key_set_url=f"https://{host}/keys"))
    assert found.startswith("'authentication.key_set_url' must be at a domain of the internet")


@pytest.mark.parametrize("clients", [None, ["0.0.0.0/0"], ["10.0.0.0/8", "192.0.2.0/24"]])
def test_takes_clients(clients: list[str] | None) -> None:
    assert of_load_balancer(public=True, clients=clients) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"clients": ["10.0.0.0/8"]},
        jwt(issuer="https://10.0.0.1:8443", key_set_url="https://issuer.example:443/.well-known/jwks.json"),
        jwt(issuer="accounts.google.com", key_set_url="https://www.googleapis.com/oauth2/v3/certs"),
        jwt(issuer="kubernetes/serviceaccount", key_set_url="https://issuer.example/"),
        {"clients": [f"10.{number // 256}.{number % 256}.0/24" for number in range(1000)]},
        jwt(claims=[JwtClaim(name="scope", values=[word], format=ClaimFormat.SPACE_SEPARATED) for word in "ab"]),
        {"paths": ["/rerank", "/v1/*/*/*", "/v2/rerank"]},
        {"paths": ["/v1/chat/*", "/v1/*/*?", "/v1/??"], **key()},
    ],
    ids=[
        "private, of an internal one",
        "an issuer at an address",
        "an issuer that is a host",
        "an issuer that is a name",
        "as many as rules",
        "two words of one claim",
        "another route behind tokens",
        "six wildcards behind a key",
    ],
)
def test_takes_a_load_balancer(changes: dict[str, Any]) -> None:
    assert of_load_balancer(**changes) == []


def test_fails_an_internal_load_balancer_that_nobody_is_known_to_reach() -> None:
    spec = LoadBalancerSpec(authentication=JWT)
    (found,) = known_client_problems(spec, cidr_known=False)
    assert sentence(found) == "'clients' must be given, as [10.0.0.0/16]: the addresses of the VPC are not known here"
    assert [*known_client_problems(replace(spec, clients=["10.0.0.0/8"]), cidr_known=False)] == []
    assert [*known_client_problems(spec, cidr_known=True)] == []


OF_ONE_ZONE = "must be another than those of the subnets before it, got 'us-west-2a' again: a load balancer takes one subnet of each zone; leave this one out"


@pytest.mark.parametrize(
    ("zones", "tasks", "says"),
    [
        ("", "", ["'subnets' must be in 2 zones or more for a public load balancer, got none"]),
        ("a", "", ["'subnets' must be in 2 zones or more for a public load balancer, got us-west-2a"]),
        (
            "ac",
            "ab",
            [
                "'subnets' must be in us-west-2b, where the tasks are, got us-west-2a, us-west-2c: a load balancer sends nothing to a zone that it has no subnet in; add it"
            ],
        ),
        ("", "ab", ["'subnets' must be in us-west-2a and us-west-2b, where the tasks are, got none […]; add them"]),
        ("a", "a", ["'subnets' must be in 2 zones or more for a public load balancer, got us-west-2a"]),
        ("aba", "", [f"'subnets[2]' {OF_ONE_ZONE}"]),
        ("cba", "ab", []),
    ],
)
def test_fails_in_zones(zones: str, tasks: str, says: list[str]) -> None:
    places = [Place(at=("subnets", number), zone=f"us-west-2{zone}") for number, zone in enumerate(zones)]
    found = zones_problems(("subnets",), places, public=True, tasks=[f"us-west-2{zone}" for zone in tasks])
    text = ": a load balancer sends nothing to a zone that it has no subnet in"
    assert [sentence(each) for each in found] == [each.replace(" […]", text) for each in says]


def test_a_name_and_an_id_may_be_one_zone() -> None:
    places = [Place(at=("subnets",), zone=zone) for zone in ("usw2-az1", "usw2-az2")]
    assert [*zones_problems(("subnets",), places, public=True, tasks=["us-west-2a"])] == []


def test_fails_a_rate_that_is_none() -> None:
    judge = Judge(environment=WHERE)
    judge.judged(WebAclSpec(requests_per_address=1))
    assert said(judge, ()) == ["'requests_per_address' must be 10 to 2000000000, got 1"]


@pytest.mark.parametrize(
    ("image", "warned"),
    [
        ("ghcr.io/huggingface/text-generation-inference", True),
        ("ghcr.io/huggingface/text-generation-inference:3.3.7", True),
        ("vllm/vllm-openai:latest", True),
        ("docker.io/vllm/vllm-openai", True),
        ("ghcr.io/huggingface/text-generation-inference:3.4-neuron", False),
        (f"docker.io/vllm/vllm-openai@sha256:{'0' * 64}", False),
        ("registry.example.com/vllm/vllm-openai:1", False),
        ("tgi-3.3.7", False),
    ],
)
def test_warns_of_images_for_gpus(image: str, warned: bool) -> None:
    spec = ServiceSpec(model=model(), engine=TextGenerationEngine.tgi(image=image), hosts=hosts())
    says = f"engine image {image} is documented for GPUs, and nothing in it is known to find Neuron devices"
    said = Warned((), "@cdk-trainyard/serving:unknown", says)
    assert (said in service_findings(spec, REGION).warnings) is warned


@pytest.mark.parametrize(
    ("engine", "says"),
    [
        (
            TextGenerationEngine.tgi(environment={"SM_ON_BATCH_SIZE": "64"}),
            "'engine.environment.SM_ON_BATCH_SIZE' has no effect: nothing in an image of tgi reads it; it is of hf-vllm; leave it out, as 'batch' of 'model' says it",
        ),
        (
            TextGenerationEngine.tgi(environment={"VLLM_PLUGINS": ""}),
            "'engine.environment.VLLM_PLUGINS' has no effect: nothing in an image of tgi reads it; it is of hf-vllm and neuron-vllm; leave it out",
        ),
        (
            TextGenerationEngine.neuron_vllm(environment={"MAX_BATCH_SIZE": "4"}),
            "'engine.environment.MAX_BATCH_SIZE' has no effect: nothing in an image of neuron-vllm reads it; it is of tgi; leave it out, as 'batch' of 'model' says it",
        ),
        (
            TextGenerationEngine.hf_vllm(environment={"SM_VLLM_MAX_NUM_SEQS": "4"}),
            "'engine.environment.SM_VLLM_MAX_NUM_SEQS' has no effect: nothing in an image of hf-vllm reads it; leave it out",
        ),
        (
            TextGenerationEngine.hf_vllm(environment={"TENSOR_PARALLEL_SIZE": "8"}),
            "'engine.environment.TENSOR_PARALLEL_SIZE' has no effect: nothing in an image of hf-vllm reads it; leave it out, as 'tensor_parallel' of 'model' says it",
        ),
        (
            TextGenerationEngine.tgi(environment={"OPTION_TENSOR_PARALLEL_DEGREE": "8"}),
            "'engine.environment.OPTION_TENSOR_PARALLEL_DEGREE' has no effect: nothing in an image of tgi reads it; leave it out",
        ),
        (
            TextGenerationEngine.tgi(environment={"REVISION": "main"}),
            "'engine.environment.REVISION' has no effect: the model is in the folder /model; leave it out",
        ),
        (
            TextGenerationEngine.tgi(environment={"MAX_CONCURRENT_REQUESTS": "3"}),
            "'engine.environment.MAX_CONCURRENT_REQUESTS' 3 is less than 'batch' 4 of 'model': TGI answers further requests with 429 while the batch has room; use 4 or more",
        ),
        (TextGenerationEngine.tgi(environment={"MAX_CONCURRENT_REQUESTS": "4", "SM_NUM_GPUS": "1", "MINE": "1"}), None),
        (TextGenerationEngine.hf_vllm(environment={"SM_ON_MAX_NUM_SEQS": "2", "VLLM_LOGGING_LEVEL": "INFO"}), None),
        (TextGenerationEngine.hf_vllm(image="registry.example.com/vllm:1", environment={"MAX_BATCH_SIZE": "4"}), None),
    ],
)
def test_warns_of_variables_that_nothing_comes_of(engine: TextGenerationEngine, says: str | None) -> None:
    spec = ServiceSpec(model=model(), engine=engine, hosts=hosts())
    found = [each.text for each in service_findings(spec, REGION).warnings if each.slug.endswith(":environment")]
    assert found == ([says] if says else [])


ENDS_A_TASK = "'scaling' may end the host of a task that serves: without 'protect' no task keeps its host, and with rollout recreate the task ends before another has loaded, so […], or 'protect' true (the stack's deletion waits until somebody takes the protection away)"
NONE_LEFT = "nothing may answer meanwhile; use rollout surge (twice the hosts while a version replaces another)"
FEWER_LEFT = "fewer tasks answer meanwhile; use rollout rolling (a new version comes task by task)"
NIGHT = ScalingSchedule(name="night", schedule="cron(0 20 * * ? *)", min_tasks=0, max_tasks=0)


@pytest.mark.parametrize(
    ("bounds", "schedules", "of_hosts", "says"),
    [
        ((1, 2), (), {}, NONE_LEFT),
        ((2, 3), (), {"tasks": 2}, FEWER_LEFT),
        ((1, 2), (), {"rollout": Rollout.SURGE}, None),
        ((2, 3), (), {"tasks": 2, "rollout": Rollout.ROLLING}, None),
        ((1, 2), (), {"protect": True}, None),
        ((1, 1), (NIGHT,), {}, None),
        ((2, 2), (replace(NIGHT, min_tasks=1, max_tasks=1),), {"tasks": 2}, NONE_LEFT),
    ],
)
def test_warns_of_scaling_that_ends_a_task_that_serves(
    bounds: tuple[int, int], schedules: tuple[ScalingSchedule, ...], of_hosts: dict[str, Any], says: str | None
) -> None:
    scaling = ServiceScaling(min_tasks=bounds[0], max_tasks=bounds[1], schedules=schedules)
    spec = ServiceSpec(model=model(), hosts=hosts(**of_hosts), scaling=scaling)
    found = [each.text for each in service_findings(spec, REGION).warnings if each.slug.endswith(":scale-in")]
    assert found == ([ENDS_A_TASK.replace("[…]", says)] if says else [])


@pytest.mark.parametrize(
    ("name", "instance_type", "degree", "says"),
    [
        (
            "llama-3.1-8b",
            "inf2.48xlarge",
            8,
            "16 of the 24 NeuronCores of inf2.48xlarge idle, which are paid, for a host has one task: use inf2.24xlarge, or a larger 'tensor_parallel'",
        ),
        (
            "llama-3.1-8b",
            "inf2.24xlarge",
            2,
            "10 of the 12 NeuronCores of inf2.24xlarge idle, which are paid, for a host has one task: use inf2.8xlarge, or a larger 'tensor_parallel'",
        ),
        ("llama-3.1-8b", "inf2.24xlarge", 8, None),
        ("llama-3.2-3b", "inf2.xlarge", 1, None),
    ],
)
def test_warns_of_cores_that_no_task_can_have(name: str, instance_type: str, degree: int, says: str | None) -> None:
    spec = ServiceSpec(
        model=model(preset=name, tensor_parallel=degree),
        engine=TextGenerationEngine.tgi(),
        hosts=hosts(instance_type=instance_type),
    )
    found = [each.text for each in service_findings(spec, REGION).warnings if each.slug.endswith(":idle-cores")]
    assert found == ([f"'tensor_parallel' {degree} leaves {says}"] if says else [])
