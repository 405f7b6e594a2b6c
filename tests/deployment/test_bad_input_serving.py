# ruff: noqa: E501  the messages are the point, each on its line
"""Bad input of what is served: what is said about it, with line and column."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import App, Stack
from aws_cdk.assertions import Annotations, Match

from cdk_trainyard import ConfigurationError
from cdk_trainyard.deployment import Deployment, explain
from cdk_trainyard.problems import Problem
from stacks import build_stacks
from tests.deployment.good_file import GOOD, GOOD_SERVING, Edit, assert_refused, edited, problems_of, row
from tests.support import ROOT

CERTIFICATE = (
    "    certificate_arn: arn:aws:acm:us-west-2:111111111111:certificate/01234567-89ab-cdef-0123-456789abcdef\n"
)
KEY = "      kind: api-key\n      secret_arn: arn:aws:secretsmanager:us-west-2:111111111111:secret:key-AbCdEf\n"
AUTHENTICATION = f"    authentication:\n{KEY}"
DOOR = f"  load_balancer:\n{CERTIFICATE}{AUTHENTICATION}"
MODEL = GOOD_SERVING[GOOD_SERVING.index("  model:") : GOOD_SERVING.index("  engine:")]
COMMIT = "0e9e39f249a16976918f6564b8830bc894c89659"
TOKENS = "      kind: jwt\n      issuer: https://i.example\n      key_set_url: https://i.example/keys\n"


AT_LOAD = [
    row(
        "words of other systems, and of nothing",
        [
            ("region: us-west-2\n", "region: us-west-2\norchestrator: none\ntag: {team: x}\n"),
            ("network:\n", "network:\n  vpc: default\n"),
            ("batch: 4", "batch: 4\n    max_model_len: 4096\n    bucket: models"),
            ("tasks: 2", "tasks: 2\n    replicas: 2"),
            ("kind: api-key", "kind: api-key\n      jwks_uri: https://i.example/keys"),
        ],
        "3:15: 'orchestrator' must be hyperpod, parallelcluster or fleet, got 'none'; leave it out where nothing trains: such a deployment has 'serving'",
        "4:1: 'tag' is no key here; did you mean 'tags'?",
        "6:3: 'network.vpc' is no key here; name a VPC that exists with 'vpc_id' and 'accelerator_subnet'",
        "16:5: 'serving.model.max_model_len' is no key here; use 'sequence_length'",
        "17:5: 'serving.model.bucket' is no key here; it is the bucket of models, 'models' in 'storage.buckets' for one of yours",
        "23:5: 'serving.hosts.replicas' is no key here; 'tasks' is given already; leave one of both out",
        "28:7: 'serving.load_balancer.authentication.jwks_uri' is no key here; use 'key_set_url'",
    ),
    row(
        "keys of Kubernetes, of SageMaker and of identity providers",
        [
            ("serving:\n", "serving:\n  replicaCount: 2\n  autoscaling: {}\n"),
            ("batch: 4", "batch: 4\n    repo: meta-llama/Llama-3.2-3B\n    s3_uri: s3://models/llama/"),
            ("kind: tgi", "kind: tgi\n    args: [--max-model-len, 4096]\n    HF_TOKEN: x"),
            ("tasks: 2", "count: 2\n    min: 1\n    max: 4"),
            (CERTIFICATE, "    tls: true\n    host: models.example.com\n    port: 8000\n"),
            (KEY, f"{KEY}      client_id: a\n      client_secret: b\n      user_pool_id: c\n"),
        ],
        "7:3: 'serving.replicaCount' is no key here; use 'hosts' with 'tasks'",
        "8:3: 'serving.autoscaling' is no key here; use 'scaling'",
        "15:5: 'serving.model.repo' is no key here; a model of the Hugging Face Hub is compiled into 'prefix' first; use 'compile' of 'serving' with 'source' and 'revision'",
        "16:5: 'serving.model.s3_uri' is no key here; use 'prefix', the folder alone",
        "19:5: 'serving.engine.args' is no key here; its arguments follow from 'model', as 'sequence_length' and 'batch'; what it reads beside them stands in 'environment'",
        "20:5: 'serving.engine.HF_TOKEN' is no key here; use 'hub_token_secret_arn'",
        "23:5: 'serving.hosts.count' is no key here; use 'tasks'",
        "24:5: 'serving.hosts.min' is no key here; use 'scaling' of 'serving' with 'min_tasks'",
        "25:5: 'serving.hosts.max' is no key here; use 'scaling' of 'serving' with 'max_tasks'",
        "27:5: 'serving.load_balancer.tls' is no key here; use 'certificate_arn'",
        "28:5: 'serving.load_balancer.host' is no key here; use 'domain_name'",
        "29:5: 'serving.load_balancer.port' is no key here; it is 443, or 80 with 'plain_http'; leave it out",
        "33:7: 'serving.load_balancer.authentication.client_id' is no key here; use 'claims', by the name that it has in tokens, as client_id or aud",
        "34:7: 'serving.load_balancer.authentication.client_secret' is no key here; jwt verifies tokens with public keys of the issuer and needs no secret; leave it out",
        "35:7: 'serving.load_balancer.authentication.user_pool_id' is no key here; use 'issuer' and 'key_set_url'",
    ),
    row(
        "an address in S3",
        [("prefix: models/llama/", "prefix: s3://my-models/llama/")],
        "10:13: 'serving.model.prefix' must be a folder of the bucket, got 's3://my-models/llama/'; write llama/; the bucket my-models stands apart, in a file as 'bucket_name' of 'models' in 'storage.buckets'",
    ),
    row(
        "a bound of an option that must go",
        [("batch: 4", "batch: 4\n    max_input_tokens: 4096"), ("kind: tgi", "kind: hf-vllm")],
        "13:23: 'serving.model.max_input_tokens' must be left out for hf-vllm […]",
    ),
    row(
        "two models",
        [(MODEL, "  model:\n  - name: a\n  - name: b\n")],
        "7:3: 'serving.model' must be a mapping ('name: …', 'prefix: …' and 'tensor_parallel: …' on lines below it), got a list; a file serves one model; another is served by a file of its own, with another 'name'",
    ),
    row(
        "hosts without Inferentia2",
        [("inf2.xlarge", "g5.xlarge")],
        "16:20: 'serving.hosts.instance_type' must be inf2.xlarge, inf2.8xlarge, inf2.24xlarge or inf2.48xlarge, got 'g5.xlarge'; a model is served on Inferentia2 alone",
    ),
    row(
        "hosts that are nearly one",
        [("inf2.xlarge", "inf2.4xlarge")],
        "16:20: 'serving.hosts.instance_type' must be inf2.xlarge, inf2.8xlarge, inf2.24xlarge or inf2.48xlarge, got 'inf2.4xlarge'; did you mean 'inf2.48xlarge' or 'inf2.24xlarge' or 'inf2.xlarge'?",
    ),
    row(
        "a model without a name that does not fit",
        [
            (
                "name: llama\n    preset: llama-3.2-3b",
                "name:\n    shape: {parameters_billions: 3, layers: 32, attention_heads: 32, key_value_heads: 8, head_dimension: 128}",
            ),
            ("batch: 4", "batch: 400"),
        ],
        "8:10: 'serving.model.name' has no value; write one",
        "12:12: 'serving.model.batch' must fit the NeuronCores: the model with […]",
    ),
    row(
        "bounds from nothing, by a metric that is none",
        [
            ("tasks: 2", "tasks: 1"),
            ("  load_balancer:", "  scaling: {min_tasks: 0, max_tasks: 2, metric: cpu}\n  load_balancer:"),
        ],
        "18:24: 'serving.scaling.min_tasks' must be 1 or more, got 0: without a task there is no metric, so nothing […]",
        "18:49: 'serving.scaling.metric' must be queue or alb-requests, got 'cpu'",
    ),
    row(
        "a target that is a share",
        [("  load_balancer:", "  scaling: {min_tasks: 1, max_tasks: 4, target: 70%}\n  load_balancer:")],
        "18:49: 'serving.scaling.target' must be a number of requests per task, got '70%'",
    ),
    row(
        "a word for nobody who looks",
        [(KEY, "      kind: 'null'\n")],
        "21:13: 'serving.load_balancer.authentication.kind' must be jwt, api-key or none, got 'null'; write jwt or api-key, or none behind an internal load balancer",
    ),
    row(
        "a page to sign in at",
        [(KEY, "      kind: cognito\n")],
        "21:13: 'serving.load_balancer.authentication.kind' must be jwt, api-key or none, got 'cognito'; there is no page to sign in at; callers that bring a token of an OpenID Connect issuer are let in by jwt",
    ),
    row(
        "an alarm that is not made, whatever it compares with, in whatever form",
        [("serving:", "monitoring:\n  alarms: { JobsStarving: { threshold: -1, minutes: 2m } }\nserving:")],
        "7:13: 'monitoring.alarms.JobsStarving' must be left out: the deployment does not make this alarm, as there is no cluster",
    ),
    row(
        "a model that does not fit",
        [("preset: llama-3.2-3b", "preset: qwen3-32b")],
        "11:22: 'serving.model.tensor_parallel' must fit the NeuronCores: qwen3-32b with 'tensor_parallel' 2 takes 30.55 GiB of weights + 4 x 0.500 GiB of KV cache = 32.55 GiB per core, of 13.6 GiB (85% of 16 GiB); use inf2.24xlarge with 'tensor_parallel' 8",
        "16:20: 'serving.hosts.instance_type' must have memory for qwen3-32b beside its devices: 61.1 GiB of weights + 4 GiB for system and engine = 65.1 GiB, got inf2.xlarge with 15.2 GiB; use inf2.24xlarge",
    ),
    row(
        "a batch that does not fit",
        [("batch: 4", "batch: 64")],
        "12:12: 'serving.model.batch' must fit the NeuronCores […]",
    ),
    row(
        "a certificate of another region",
        [("acm:us-west-2", "acm:us-east-1")],
        "19:22: 'serving.load_balancer.certificate_arn' must be of Region us-west-2, got 'arn:aws:acm:us-east-1:111111111111:certificate/01234567-89ab-cdef-0123-456789abcdef'",
    ),
    row(
        "access logs to a bucket that has a key elsewhere",
        [
            (CERTIFICATE, CERTIFICATE + "    access_logs: {bucket_name: my-logs}\n"),
            (
                "serving:\n",
                "storage:\n  buckets:\n    models: {bucket_name: my-logs, key_arn: arn:aws:kms:us-west-2:111111111111:key/01234567-89ab-cdef-0123-456789abcdef}\nserving:\n",
            ),
        ],
        "23:32: 'serving.load_balancer.access_logs.bucket_name' must be a bucket without a KMS key, got 'my-logs', which has one by 'storage.buckets.models': load balancers write to SSE-S3 alone",
    ),
    row(
        "access logs to a bucket of models",
        [
            (CERTIFICATE, CERTIFICATE + "    access_logs: {bucket_name: mine}\n"),
            ("serving:\n", "storage: {buckets: {models: {bucket_name: mine}}}\nserving:\n"),
        ],
        "21:32: 'serving.load_balancer.access_logs.bucket_name' must be a bucket of its own, got 'mine', which is 'storage.buckets.models' too",
    ),
    row(
        "access logs with a key, under a prefix",
        [(CERTIFICATE, CERTIFICATE + "    access_logs: {name: my-logs, key_arn: x, prefix: y}\n")],
        "20:19: 'serving.load_balancer.access_logs.name' is no key here; did you mean 'bucket_name'?",
        "20:34: 'serving.load_balancer.access_logs.key_arn' is no key here; AWS delivers access logs only to buckets under S3's own encryption (SSE-S3); name another bucket",
        "20:46: 'serving.load_balancer.access_logs.prefix' is no key here; it is front-door for a load balancer, and the purpose of a bucket for that",
    ),
    row(
        "desired above max",
        [("tasks: 2", "tasks: 5"), ("  load_balancer:", "  scaling: {min_tasks: 1, max_tasks: 4}\n  load_balancer:")],
        "17:12: 'serving.hosts.tasks' must be 1 to 4 as 'scaling' […]",
    ),
    row(
        "an unknown preset",
        [("preset: llama-3.2-3b", "preset: lama-3.2-3b")],
        "9:13: 'serving.model.preset' must be llama-2-7b, llama-3.1-8b, llama-3.2-3b, llama-3.3-70b, qwen3-14b, qwen3-30b-a3b, qwen3-32b, qwen3-8b, … (all are in serving/README.md, 'What fits'), got 'lama-3.2-3b'; did you mean 'llama-3.2-3b' or 'llama-3.1-8b' or 'llama-2-7b'?",
    ),
    row(
        "one service zone",
        [("[usw2-az1, usw2-az2]", "[usw2-az1]")],
        "5:3: 'network.service_zones' must be at least 2 zones, got 'usw2-az1' alone; add a zone, or leave them out without accounting and serving",
    ),
    row(
        "no service zones",
        [("  service_zones: [usw2-az1, usw2-az2]\n", "")],
        "3:1: 'network.service_zones' must be in 2 zones or more for an internal load balancer, got none",
    ),
    row(
        "a public door in one zone",
        [(CERTIFICATE, CERTIFICATE + "    public: true\n")],
        "20:13: 'serving.load_balancer.public' needs 'public_zones' of the network, which must be in usw2-az1 and usw2-az2, where the tasks are, got usw2-az4 of the NAT gateway: a load balancer sends nothing to a zone that it has no subnet in; add them",
    ),
    row(
        "a public door in other zones than its tasks",
        [
            (CERTIFICATE, CERTIFICATE + "    public: true\n"),
            ("  service", "  public_zones: [usw2-az1, usw2-az3]\n  service"),
        ],
        "5:3: 'network.public_zones' must be in usw2-az2, where the tasks are, got usw2-az1, usw2-az3, usw2-az4 of the NAT gateway […]",
    ),
    row(
        "a network too small for a door",
        [("zone: usw2-az4", "cidr: 10.1.0.0/22\n  zone: usw2-az4")],
        "4:9: 'network.cidr' must be a /21 or larger for the load balancer of 'serving', got 10.1.0.0/22: each subnet must be a /27 or larger, with 8 free addresses",
    ),
    row(
        "a network too small for its zones, and for a door",
        [("zone: usw2-az4", "cidr: 10.1.0.0/26\n  zone: usw2-az4")],
        "4:9: 'network.cidr' must be a /21 or larger for the load balancer of 'serving', got 10.1.0.0/26 […]",
        "4:9: 'network.cidr' must be larger for 'service_zones' in usw2-az2 […]",
    ),
    row(
        "a network too small for its hosts",
        [("zone: usw2-az4", "cidr: 10.1.0.0/20\n  zone: usw2-az4"), ("tasks: 2", "tasks: 50\n    rollout: surge")],
        "4:9: 'network.cidr' must be a /19 or larger for 'serving', got 10.1.0.0/20: its service subnets must have 216 addresses, as 100 hosts take 200 with their tasks, and a load balancer 16",
    ),
    row(
        "more hosts than any network of two zones holds",
        [("tasks: 2", "tasks: 1012")],
        "5:3: 'network.service_zones' must have 2040 addresses for 'serving', got 2 zones with 2038 at most: 1012 hosts take 2024 with their tasks, and a load balancer 16; add zones, give the accelerator subnet a 'secondary_cidr', or lower the tasks",
    ),
    row(
        "more hosts than all zones of the Region have addresses for",
        [("tasks: 2", "tasks: 2100"), ("[usw2-az1, usw2-az2]", "[usw2-az1, usw2-az2, usw2-az3, usw2-az4]")],
        "5:3: 'network.service_zones' must have 4232 addresses for 'serving', got 4 zones with 4076 at most: 2100 hosts take 4200 with their tasks, and a load balancer 32; give the accelerator subnet a 'secondary_cidr', or lower the tasks",
    ),
    row(
        "no route to the internet",
        [("zone: usw2-az4", "zone: usw2-az4\n  nat: none")],
        "5:8: 'network.nat' must be one or per-zone for 'serving', got none: its hosts ask ecs.us-west-2.amazonaws.com, ecs-a-*.us-west-2.amazonaws.com, ecs-t-*.us-west-2.amazonaws.com, logs.us-west-2.amazonaws.com, ghcr.io, pkg-containers.githubusercontent.com",
    ),
    row(
        "metrics let in",
        [(CERTIFICATE, CERTIFICATE + "    paths: [/v1/*, /metrics]\n")],
        "20:20: 'serving.load_balancer.paths[1]' must not let in /metrics, got '/metrics'; use '/v1/*'",
    ),
    row(
        "a request of two hours",
        [("  model:", "  request_timeout_seconds: 7200\n  model:")],
        "7:28: 'serving.request_timeout_seconds' must be 30 to 3600 seconds, got 7200",
    ),
    row(
        "a limit that leaves no queue to scale by, nor to ring",
        [
            (CERTIFICATE, CERTIFICATE + "    concurrency: {requests: 4}\n"),
            (
                "  load_balancer:",
                "  scaling: {min_tasks: 1, max_tasks: 2}\n  monitoring: {waiting: 3}\n  load_balancer:",
            ),
        ],
        "19:25: 'serving.monitoring.waiting' must be left out, got 3 […]",
        "22:29: 'serving.load_balancer.concurrency.requests' must be more than 8 with metric queue, got 4 […]",
    ),
    row(
        "a secret of another account than the certificate's",
        [("secretsmanager:us-west-2:111111111111", "secretsmanager:us-west-2:222222222222")],
        "22:19: 'serving.load_balancer.authentication.secret_arn' must be of account 111111111111 without 'secret_key_arn' […]",
    ),
    row(
        "a secret of another account than a workspace's",
        [
            (
                "certificate_arn: arn:aws:acm:us-west-2:111111111111:certificate/01234567-89ab-cdef-0123-456789abcdef",
                "plain_http: true",
            ),
            ("serving:", "monitoring: {workspace_arn: 'arn:aws:aps:us-west-2:222222222222:workspace/ws-1'}\nserving:"),
        ],
        "23:19: 'serving.load_balancer.authentication.secret_arn' must be of account 222222222222 without 'secret_key_arn' […]",
    ),
    row(
        "a secret as text",
        [("kind: tgi", "kind: tgi\n    environment: {HF_TOKEN: abc}")],
        "15:19: 'serving.engine.environment.HF_TOKEN' must be left out: a secret […]",
    ),
    row(
        "a reference to a secret",
        [("kind: tgi", "kind: tgi\n    environment: {HF_TOKEN: '${HF_TOKEN}'}")],
        "15:19: 'serving.engine.environment.HF_TOKEN' must be left out: a secret […]",
    ),
    row(
        "a secret without a value",
        [("kind: tgi", "kind: tgi\n    environment: {HF_TOKEN: }")],
        "15:19: 'serving.engine.environment.HF_TOKEN' must be left out: a secret […]",
    ),
    row(
        "the scheme of a load balancer",
        [("  load_balancer:\n", "  load_balancer:\n    public: internet-facing\n")],
        "19:13: 'serving.load_balancer.public' must be true or false, got 'internet-facing'; write true",
    ),
    row(
        "secrets of another account",
        [
            ("us-west-2\nnetwork", 'us-west-2\naccount: "111111111111"\nnetwork'),
            ("secretsmanager:us-west-2:111111111111", "secretsmanager:us-west-2:222222222222"),
            (
                "kind: tgi",
                "kind: tgi\n    hub_token_secret_arn: arn:aws:secretsmanager:us-west-2:333333333333:secret:hub-AbCdEf",
            ),
            ("batch: 4", "batch: 4\n    precompiled: false"),
            ("inf2.xlarge", "inf2.8xlarge"),
        ],
        "17:27: 'serving.engine.hub_token_secret_arn' must be of account 111111111111, got 'arn:aws:secretsmanager:us-west-2:333333333333:secret:hub-AbCdEf': Secrets Manager's own key is of no use to another account; copy the token into a secret of this account",
        "25:19: 'serving.load_balancer.authentication.secret_arn' must be of account 111111111111 without 'secret_key_arn', got 'arn:aws:secretsmanager:us-west-2:222222222222:secret:key-AbCdEf': Secrets Manager's own key is of no use to another account; give the KMS key of the secret as 'secret_key_arn'",
    ),
    row(
        "an engine that nobody reaches",
        [("kind: tgi", "kind: tgi\n    environment: {HOSTNAME: 127.0.0.1}")],
        "15:29: 'serving.engine.environment.HOSTNAME' must be 0.0.0.0, which the load balancer reaches, got '127.0.0.1'; leave it out",
    ),
    row(
        "a tag of nothing",
        [("kind: tgi", "kind: tgi\n    tag: v1")],
        "15:10: 'serving.engine.tag' is said of a repository of yours, got 'v1' alone; give 'repository_arn' too",
    ),
    row(
        "compiling what is not precompiled",
        [
            ("kind: tgi", "kind: hf-vllm"),
            ("batch: 4", "batch: 4\n    precompiled: false"),
            (
                "  load_balancer:",
                f"  compile: {{source: meta-llama/Llama-3.2-3B, revision: {COMMIT}}}\n  load_balancer:",
            ),
            ("inf2.xlarge", "inf2.8xlarge"),
        ],
        "13:18: 'serving.model.precompiled' must be true for a model that […]",
    ),
    row(
        "compiling with a version for an image",
        [
            ("kind: tgi", "kind: hf-vllm\n    image: 0.9.1"),
            (
                "  load_balancer:",
                f"  compile: {{source: meta-llama/Llama-3.2-3B, revision: {COMMIT}}}\n  load_balancer:",
            ),
            ("inf2.xlarge", "inf2.8xlarge"),
        ],
        "15:12: 'serving.engine.image' must be hf-vllm-0.4.5, hf-vllm-0.4.5-ghcr or a reference with its registry […]",
    ),
    row(
        "compiling what is too large",
        [
            ("kind: tgi", "kind: hf-vllm"),
            ("llama-3.2-3b", "llama-3.3-70b"),
            ("tensor_parallel: 2", "tensor_parallel: 24"),
            ("inf2.xlarge", "inf2.48xlarge"),
            (
                "  load_balancer:",
                f"  compile: {{timeout_hours: 37, source: meta-llama/Llama-3.3-70B, revision: {COMMIT}}}\n  load_balancer:",
            ),
        ],
        "7:3: 'serving.model' must be small enough for a build host of 145 GiB: llama-3.3-70b takes 2 GiB + 3 x its weights = 396 GiB; compile it on an instance with that memory and copy it to 'prefix'",
        "18:28: 'serving.compile.timeout_hours' must be 1 to 36 hours, got 37",
    ),
    row(
        "a key misspelt",
        [("tensor_parallel", "tensor_paralel")],
        "11:5: 'serving.model.tensor_paralel' is no key here; did you mean 'tensor_parallel'?",
    ),
    row(
        "no model",
        [(MODEL, "")],
        "6:1: 'serving.model' is missing; it needs 'name', 'prefix', 'tensor_parallel'",
    ),
    row(
        "no authentication",
        [(AUTHENTICATION, "")],
        "18:3: 'serving.load_balancer.authentication' is missing; it needs 'kind'",
    ),
    row(
        "no load balancer, nor the zones of one",
        [(DOOR, ""), ("  service_zones: [usw2-az1, usw2-az2]\n", "")],
        "3:1: 'network.service_zones' must be in 2 zones or more for an internal load balancer, got none",
        "5:1: 'serving.load_balancer' is missing; it needs 'authentication'",
    ),
    row(
        "a cluster without an orchestrator",
        [("serving:", "cluster: {}\nserving:")],
        "1:1: 'orchestrator' is missing; it says what 'cluster' is",
    ),
    row(
        "an image of a wrong form for a build",
        [
            ("kind: tgi", "kind: tgi\n    image: registry.example.com/Team:1"),
            ("serving:\n", f"serving:\n  compile: {{source: meta-llama/Llama-3.2-3B, revision: {COMMIT}}}\n"),
        ],
        "16:12: 'serving.engine.image' must be an image with its registry, and a tag or a digest unless […]",
    ),
    row(
        "an orchestrator without a cluster",
        [("serving:", "orchestrator: hyperpod\nserving:")],
        "1:1: 'cluster' is missing; 'orchestrator' needs it",
    ),
    row(
        "a region without a registry",
        [
            ("us-west-2\n", "eu-north-1\n"),
            ("usw2-az4", "eun1-az1"),
            ("[usw2-az1, usw2-az2]", "[eun1-az1, eun1-az2]"),
            ("kind: tgi", "kind: hf-vllm"),
            ("acm:us-west-2", "acm:eu-north-1"),
        ],
        "13:3: 'serving.engine.image' must be in a registry that is […]",
        "22:19: 'serving.load_balancer.authentication.secret_arn' must be of Region eu-north-1, got 'arn:aws:secretsmanager:us-west-2:111111111111:secret:key-AbCdEf'",
    ),
    row(
        "a key of a secret",
        [(KEY, KEY.replace(" arn:", " 'arn:").replace("AbCdEf", "AbCdEf:token::'"))],
        "22:19: 'serving.load_balancer.authentication.secret_arn' must be the ARN of a secret alone, got 'arn:aws:secretsmanager:us-west-2:111111111111:secret:key-AbCdEf:token::', with […]",
    ),
    row(
        "limits that are none",
        [(CERTIFICATE, CERTIFICATE + "    web_acl: {requests_per_address: 1}\n    concurrency: {requests: 0}\n")],
        "20:37: 'serving.load_balancer.web_acl.requests_per_address' must be 10 to 2000000000, got 1",
        "21:29: 'serving.load_balancer.concurrency.requests' must be 1 to 1000, got 0",
    ),
    row(
        "to zero and never back",
        [
            (
                "  load_balancer:",
                "  scaling: {min_tasks: 1, max_tasks: 4, schedules: [{name: night, schedule: 0 20 * * *, min_tasks: 0, max_tasks: 0}]}\n  load_balancer:",
            )
        ],
        "18:53: 'serving.scaling.schedules[0]' must not end the last task without […]",
        "18:77: 'serving.scaling.schedules[0].schedule' must be a schedule, as cron(0 20 ? * MON-FRI *) or at(2026-12-24T18:00:00), got '0 20 * * *'",
    ),
    row(
        "an engine that is no mapping",
        [("  engine:\n    kind: tgi", "  engine: tgi")],
        "13:11: 'serving.engine' must be a mapping ('kind: tgi' on lines below it), got 'tgi'",
    ),
    row(
        "nobody as authentication, in one word",
        [(AUTHENTICATION, "    authentication: none\n")],
        "20:21: 'serving.load_balancer.authentication' must be a mapping ('kind: none' on lines below it), got 'none'",
    ),
    row(
        "a secret of no form where nobody reads one",
        [(KEY, f"{TOKENS}      claims: [{{name: aud, values: [a]}}]\n      secret_arn: my-secret\n")],
        "25:7: 'serving.load_balancer.authentication.secret_arn' must be left out of kind jwt, which does not look at it",
    ),
    row(
        "a section by its former name",
        [("  load_balancer:", "  door:")],
        "18:3: 'serving.door' is no key here; it is called 'load_balancer'",
    ),
    row(
        "values in their former spelling",
        [
            ("kind: tgi", "kind: hf_vllm"),
            ("kind: api-key", "kind: api_key"),
            ("  load_balancer:", "  scaling: {min_tasks: 1, max_tasks: 4, metric: alb_requests}\n  load_balancer:"),
        ],
        "14:11: 'serving.engine.kind' must be tgi, hf-vllm or neuron-vllm, got 'hf_vllm'; did you mean 'hf-vllm'?",
        "18:49: 'serving.scaling.metric' must be queue or alb-requests, got 'alb_requests'; did you mean 'alb-requests'?",
        "22:13: 'serving.load_balancer.authentication.kind' must be jwt, api-key or none, got 'api_key'; did you mean 'api-key'?",
    ),
    row(
        "a detector that nobody runs",
        [
            (
                "  model:",
                "  node_health: off\n  node_health_repository_arn: arn:aws:ecr:us-west-2:111111111111:repository/npd\n  model:",
            )
        ],
        "8:31: 'serving.node_health_repository_arn' must be left out with 'node_health' off: nothing is pulled",
    ),
    row(
        "an alarm that never rings",
        [("  load_balancer:", "  monitoring: {latency_seconds: 900}\n  load_balancer:")],
        "18:33: 'serving.monitoring.latency_seconds' must be at most 600, the longest that a request may take, got 900: such an alarm never rings",
    ),
    row(
        "an alarm on the first token that never rings",
        [("serving:", "monitoring: {alarms: {FirstTokenSlow: {threshold: 600}}}\nserving:")],
        "6:51: 'monitoring.alarms.FirstTokenSlow.threshold' must be less than 600 seconds, the longest that a request may take, got 600: such an alarm never rings",
    ),
    row(
        "an alarm on requests of which no more may wait",
        [("serving:", "monitoring: {alarms: {EngineQueueing: {threshold: 124}}}\nserving:")],
        "6:51: 'monitoring.alarms.EngineQueueing.threshold' must be less than 124, got 124: a task gets 128 requests at a time and computes 4, so such an alarm never rings; or raise MAX_CONCURRENT_REQUESTS in 'environment' of 'engine'",
    ),
    row(
        "an alarm on the first token beyond its bounds, told once",
        [("serving:", "monitoring: {alarms: {FirstTokenSlow: {threshold: 4000}}}\nserving:")],
        "6:51: 'monitoring.alarms.FirstTokenSlow.threshold' must be less than 600 seconds, the longest that a request may take, got 4000: such an alarm never rings",
    ),
    row(
        "paths of a node where folders of a bucket are",
        [("prefix: models/llama/", "prefix: /fsx/llama/")],
        "10:13: 'serving.model.prefix' must be a folder of the bucket, got '/fsx/llama/'; write fsx/llama/: it is how keys of the bucket begin, and no path of a node",
    ),
]


@pytest.mark.parametrize(("edits", "says"), AT_LOAD)
def test_fails_at_load(edits: list[Edit], says: list[str], write: Callable[[str], Path]) -> None:
    assert_refused(write(edited(*edits, good=GOOD_SERVING)), says)


def test_takes_a_secret_of_another_account_with_its_key(write: Callable[[str], Path]) -> None:
    key = "arn:aws:kms:us-west-2:222222222222:key/01234567-89ab-cdef-0123-456789abcdef"
    edits = [
        ("us-west-2\nnetwork", 'us-west-2\naccount: "111111111111"\nnetwork'),
        (
            "us-west-2:111111111111:secret:key-AbCdEf",
            f"us-west-2:222222222222:secret:key-AbCdEf\n      secret_key_arn: {key}",
        ),
    ]
    assert Deployment.load(write(edited(*edits, good=GOOD_SERVING))).serving is not None


def test_fails_without_anything_to_do(write: Callable[[str], Path]) -> None:
    assert problems_of(write("name: demo\nregion: us-west-2\nnetwork: {zone: usw2-az4}\n")) == [
        "1:1: a deployment must train, serve or do both, got neither; give 'cluster' with its 'orchestrator', or 'serving'"
    ]


def test_what_is_wrong_in_one_part_leaves_the_others_judged(write: Callable[[str], Path]) -> None:
    """A mistake of form in the door does not hide that the model is too large, and the other way round."""
    broken = [(CERTIFICATE, "    certificat_arn: x\n"), ("tensor_parallel: 2", "tensor_parallel: 3")]
    assert [problem.partition(":")[0] for problem in problems_of(write(edited(*broken, good=GOOD_SERVING)))] == [
        "11",
        "19",
    ]
    other = [("batch: 4", "batch: many"), (CERTIFICATE, "    plain_http: true\n    public: true\n")]
    said = " ".join(problems_of(write(edited(*other, good=GOOD_SERVING))))
    assert "'serving.model.batch' must be a whole number" in said
    assert "'serving.load_balancer.plain_http' must not be said for a public load balancer" in said


def test_a_cluster_s_mistakes_and_the_model_s_are_said_together(write: Callable[[str], Path]) -> None:
    served = GOOD_SERVING.partition("serving:\n")[2].replace("tensor_parallel: 2", "tensor_parallel: 3")
    both = edited(
        ("count: 4", "count: -4"), ("zone: use1-az4", "zone: use1-az4\n  service_zones: [use1-az4, use1-az6]")
    )
    said = " ".join(problems_of(write(f"{both}serving:\n{served.replace('us-west-2', 'us-east-1')}")))
    assert "'cluster.groups.workers.count'" in said
    assert "'serving.model.tensor_parallel' must be" in said


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
            ["'network.service_subnets' must be in 2 zones or more for an internal load balancer, got none"],
        ),
        (
            SERVICE_SUBNETS,
            [
                "'serving.load_balancer.clients' must be given, as [10.0.0.0/16]: the addresses of the VPC are not known here"
            ],
        ),
        (
            f"{SERVICE_SUBNETS}    - {{ subnet_id: subnet-0123456789abcdef3, zone: us-west-2a }}\n",
            [
                "'network.service_subnets[2].zone' must be another than those of the subnets before it, got 'us-west-2a' again: a load balancer takes one subnet of each zone; leave this one out"
            ],
        ),
        (
            SERVICE_SUBNETS.replace("west-2a", "west-2a, cidr: 10.2.0.0/28").replace(
                "west-2b", "west-2b, cidr: 10.2.1.0/24"
            ),
            [
                "'network.service_subnets[0].cidr' must be a /27 or larger for a load balancer, got 10.2.0.0/28: it asks for 8 free addresses; name a larger subnet"
            ],
        ),
        (
            f"""  cidr: 10.2.0.0/16\n{SERVICE_SUBNETS.replace("west-2a", "west-2a, cidr: 10.2.0.0/27").replace("west-2b", "west-2b, cidr: 10.2.0.32/27")}""",
            [
                "'network.service_subnets' must have 56 addresses for 'serving', got 54: 20 hosts take 40 with their tasks, and a load balancer 16; name more or larger subnets, or lower the tasks"
            ],
        ),
    ],
    ids=["no service subnets", "nobody is known to reach it", "two subnets of one zone", "small ones", "full ones"],
)
def test_fails_in_an_existing_network(network: str, says: list[str], write: Callable[[str], Path]) -> None:
    old = "  zone: usw2-az4\n  service_zones: [usw2-az1, usw2-az2]\n"
    tasks = ("tasks: 2", "tasks: 20")
    problems = problems_of(write(edited((old, EXISTING + network), tasks, good=GOOD_SERVING)))
    assert [problem.split(": ", 1)[1] for problem in problems][: len(says)] == says


@pytest.mark.parametrize(
    "edits",
    [
        [("zone: usw2-az4", "cidr: 10.1.0.0/21\n  zone: usw2-az4"), ("tasks: 2", "tasks: 19")],
        [("tasks: 2", "tasks: 1011")],
        [("zone: usw2-az4", "zone: us-west-2-lax-1q"), ("[usw2-az1, usw2-az2]", "[us-west-2a, us-west-2b]")],
        [(CERTIFICATE, CERTIFICATE + "    public: true\n"), ("  service", "  public_zones: [usw2-az1, usw2-az2]\n  service")],
    ],
    ids=["the smallest network", "full subnets", "a Local Zone with a late letter", "public, in the zones of the tasks and in another"],
)  # fmt: skip
def test_takes_where_it_stands(edits: list[Edit], write: Callable[[str], Path]) -> None:
    Deployment.load(write(edited(*edits, good=GOOD_SERVING)))


def test_what_a_construct_of_the_stack_refuses_is_said_of_its_section(write: Callable[[str], Path]) -> None:
    path = write(GOOD_SERVING)
    wrong = Problem(("model", "batch"), "must be another, got 4")
    error = ConfigurationError("ServingStack/Service", [wrong, "the moon is in the wrong house"])
    assert explain(error, Deployment.load(path)).splitlines()[1:] == [
        f"  - {path}:6:1: the moon is in the wrong house (ServingStack/Service)",
        f"  - {path}:12:12: 'serving.model.batch' must be another, got 4",
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
             ("usw2-az4", "use1-az4"), ("acm:us-west-2", "acm:us-east-1"), ("secretsmanager:us-west-2", "secretsmanager:us-east-1")],
            "inf2.xlarge is not known to be offered in use1-az1, use1-az3, only in use1-az2, use1-az4, use1-az5, use1-az6 (data of 20",
        ),
        ([("batch: 4", "batch: 64"), ("kind: tgi", "kind: tgi\n    unchecked: true")], "use 'batch' 48 or less"),
        ([("kind: tgi", "kind: tgi\n    image: registry.example/tgi:9")], "engine image registry.example/tgi:9 is not in the catalogue"),
        ([(CERTIFICATE, "    plain_http: true\n"), (KEY, "      kind: none\n")], "whoever reaches the load balancer can use the model"),
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
    assert "cdk_trainyard.serving.service" in serves - trains
