"""The ``serving:`` section: a model that is served beside, or without, a training cluster."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from cdk_trainyard.deployment._section import (
    LAX,
    BucketName,
    Cidr,
    KeyArn,
    RetentionDays,
    SecretArn,
    Section,
    arn,
    shown,
    text,
)
from cdk_trainyard.serving import (
    AuthenticationKind,
    ClaimFormat,
    ModelShape,
    NeuronDtype,
    Rollout,
    ScalingMetric,
    Server,
)
from cdk_trainyard.serving.sizing import INF2_TYPES, LEGAL_DEGREES

CertificateArn = Annotated[str, arn("acm", "certificate/")]
RepositoryArn = Annotated[str, arn("ecr", "repository/")]
HubId = Annotated[
    str,
    text(
        r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$",
        "the name of a model on the Hugging Face Hub, <organization>/<model>",
        example="meta-llama/Llama-3.1-8B-Instruct",
    ),
]
_Positive = Annotated[int, shown(minimum=1)]


class ShapeSection(Section):
    """The shape of a model that has no preset, from its config.json."""

    parameters_billions: float
    """Parameters in billions (1e9), all experts of a mixture counted."""
    layers: int
    """Layers: num_hidden_layers."""
    attention_heads: int
    """Attention heads: num_attention_heads."""
    key_value_heads: int
    """Key and value heads: num_key_value_heads."""
    head_dimension: int
    """Numbers in a head: head_dim, or hidden_size / num_attention_heads."""


class ModelSection(Section):
    """What is served: where its weights are in the models bucket, and the static shapes it is compiled for."""

    name: Annotated[str, Field(examples=["llama-3.1-8b"])]
    """The name by which clients ask for it."""
    preset: Annotated[str | None, shown(enum=list(ModelShape.presets()))] = None
    """The shape of a well-known model. Default - shape is given instead."""
    shape: ShapeSection | None = None
    """A shape of your own. Default - preset is given instead."""
    prefix: Annotated[str, Field(examples=["llama-3.1-8b/"])]
    """Its folder in the deployment's models bucket."""
    build: Annotated[str | None, Field(examples=["3f9a0c51d7e2"])] = None
    """The folder in prefix that is served: of a compilation, what the last line of its log names. Another build is
    another value here. Default - with compile: none yet, and no host runs; without it: what prefix holds."""
    tensor_parallel: Annotated[int, shown(enum=list(LEGAL_DEGREES))]
    """NeuronCores that share it; as it was compiled."""
    batch: _Positive = 1
    """Sequences that are computed together; as it was compiled. Default: 1."""
    sequence_length: _Positive = 4096
    """Tokens of a sequence, the prompt's and the new ones; as it was compiled. Default: 4096."""
    max_input_tokens: _Positive | None = None
    """Tokens of the longest prompt, which tgi wants to know. Default - half of the sequence."""
    dtype: Annotated[NeuronDtype, LAX] = NeuronDtype.BF16
    """In what numbers the weights are held; fp8 and int8 for neuron_vllm only. Default: bf16."""
    precompiled: bool = True
    """Whether the folder holds the compiled model; otherwise the engine takes it from the Hub's cache or compiles it.
    Default: true."""
    presharded: bool = False
    """Whether the weights are stored in pieces per core, so that the host never holds all of them. Default: false."""


class EngineSection(Section):
    """What serves the model."""

    kind: Annotated[Server, LAX] = Server.HF_VLLM
    """The server: vLLM of Hugging Face's optimum-neuron (hf_vllm) or of AWS's Neuron containers (neuron_vllm), or tgi,
    for those who have it: in maintenance since 2025-12-11. Default: hf_vllm."""
    image: Annotated[str | None, Field(examples=["hf-vllm-0.4.5"])] = None
    """An image of the catalogue by its key, or a reference with its registry. Default - the catalogue's."""
    repository_arn: RepositoryArn | None = None
    """An ECR repository of yours that has a copy of the image. Default - where it is published."""
    tag: str | None = None
    """The tag or digest (sha256:…) there. Default - latest."""
    environment: Mapping[str, str] = Field(default_factory=dict)
    """Further environment variables; they win over those that follow from the model. Default - none."""
    hub_token_secret_arn: SecretArn | None = None
    """A secret with a token of the Hugging Face Hub, for a gated model that is not precompiled. Default - none."""
    unchecked: bool = False
    """Whether what the catalogue or the arithmetic speaks against is a warning instead of an error. Default: false."""


class HostsSection(Section):
    """The inf2 instances; one task runs on each."""

    instance_type: Annotated[str, shown(enum=list(INF2_TYPES))]
    """Their type, of inf2."""
    tasks: int = 1
    """Tasks, and so hosts. Default: 1."""
    max_hosts: int | None = None
    """Most hosts. Default - what tasks, scaling and rollout need."""
    rollout: Annotated[Rollout, LAX] = Rollout.RECREATE
    """How a new version replaces the old one: recreate (no service meanwhile), rolling (one task less) or surge (twice
    the hosts). Default: recreate."""
    host_image: Annotated[str | None, Field(examples=["20260701"])] = None
    """Version of the ECS Neuron image, in quotes: it decides the driver. Default - the catalogue's."""
    volume_mib_s: Annotated[int, shown(minimum=125, maximum=1000)] = 500
    """Throughput of the root volumes, where weights are kept. Default: 500."""
    volume_key_arn: KeyArn | None = None
    """KMS key of the root volumes; it must let EC2 Auto Scaling use it. Default - the account's own for EBS."""
    protect: bool = False
    """Whether hosts with a task are protected from scale-in; the deletion of the stack then waits for you.
    Default: false."""


class ScheduleSection(Section):
    """Other bounds from a point in time on."""

    name: Annotated[str, Field(examples=["night"])]
    """What it is for."""
    schedule: Annotated[str, Field(examples=["cron(0 20 ? * MON-FRI *)"])]
    """When: cron(…) or at(…)."""
    min_tasks: int
    """The least number of tasks from then on; 0 with max_tasks 0: nothing runs."""
    max_tasks: int
    """The largest number of tasks from then on."""
    time_zone: Annotated[str, Field(examples=["Europe/Berlin"])] = "Etc/UTC"
    """Time zone of the schedule. Default: Etc/UTC."""


class ScalingSection(Section):
    """Bounds of the number of tasks, and what moves it between them."""

    min_tasks: int
    """The least number of tasks, 1 or more; schedules go to zero."""
    max_tasks: int
    """The largest number of tasks."""
    metric: Annotated[ScalingMetric, LAX] = ScalingMetric.QUEUE
    """What moves it: queue (requests that wait in the engine) or alb_requests. Default: queue."""
    target: float | None = None
    """The metric's value per task that is aimed at. Default - queue: the batch; alb_requests: 30 a minute."""
    cooldown_seconds: int = 900
    """Pause after tasks were taken away. Default: 900."""
    schedules: tuple[ScheduleSection, ...] = ()
    """Other bounds at other times, to zero and back. Default - none."""


class ClaimSection(Section):
    """A claim that a token must carry."""

    name: Annotated[str, Field(examples=["client_id"])]
    """The claim: client_id, scope or aud."""
    values: tuple[str, ...]
    """Values, one of which it must have."""
    format: Annotated[ClaimFormat, LAX] = ClaimFormat.SINGLE_STRING
    """How it is written in the token. Default: single-string."""


class AuthenticationSection(Section):
    """How callers are told from others: by the keys of one kind."""

    kind: Annotated[AuthenticationKind, LAX]
    """Who looks at callers: the load balancer, which verifies tokens (jwt), the engine, which compares a key (api_key),
    or nobody, behind an internal door (none)."""
    issuer: Annotated[str | None, Field(examples=["https://issuer.example/pool"])] = None
    """The issuer of the tokens, as they name it; jwt only. Default - none."""
    key_set_url: Annotated[str | None, Field(examples=["https://issuer.example/pool/.well-known/jwks.json"])] = None
    """The issuer's public keys, reachable from the internet; jwt only. Default - none."""
    claims: tuple[ClaimSection, ...] = ()
    """What a token must carry beside issuer and end, or any token of the issuer would pass; jwt only, which needs one.
    Default - none."""
    secret_arn: SecretArn | None = None
    """The secret whose whole value is the key; api_key only. Default - none."""
    secret_key_arn: KeyArn | None = None
    """The KMS key of that secret. Default - the account's own for Secrets Manager."""


class WebAclSection(Section):
    """AWS WAF before the door, with rules that do not take prompts for attacks."""

    requests_per_address: int = 3000
    """Requests of one address in five minutes; more are refused. Default: 3000."""


class ConcurrencySection(Section):
    """Holds requests back at the load balancer until a task has room; fixed when the door is made."""

    requests: int | None = None
    """Requests that a task gets at a time, 1 to 1000. Default - the model's batch."""
    image: str | None = None
    """Image of the target optimizer's agent. Default - the newest of AWS's."""


class ExistingBucketSection(Section):
    """A bucket that exists already, in the same region; its rules and its policy stay yours."""

    bucket_name: BucketName
    """Its name."""
    key_arn: KeyArn | None = None
    """The KMS key it is encrypted with. Default - S3's own encryption."""


class DoorSection(Section):
    """The load balancer before the service: paths that are not listed are answered 404."""

    authentication: AuthenticationSection
    """Who may call."""
    certificate_arn: CertificateArn | None = None
    """The ACM certificate for HTTPS, of the same region. Default - none, which needs plain_http."""
    plain_http: bool = False
    """Whether the door speaks HTTP, for an internal door only; prompts can be read on the way. Default: false."""
    domain_name: Annotated[str | None, Field(examples=["models.example.com"])] = None
    """The name of the certificate that callers use; let it lead to the door. Default - the load balancer's own."""
    public: bool = False
    """Whether it is reached from the internet. Default: false."""
    clients: tuple[Cidr, ...] = ()
    """Addresses that reach it. Default - internal: the VPC; public: anybody."""
    paths: tuple[str, ...] = ("/v1/*",)
    """What is let in, at most 3 patterns. Default - /v1/*."""
    web_acl: WebAclSection | None = None
    """AWS WAF before it. Default - none."""
    concurrency: ConcurrencySection | None = None
    """Queues requests at the load balancer instead of in the engine. Default - the engine queues."""
    access_logs: ExistingBucketSection | None = None
    """An existing bucket for access logs, which must let the load balancer write. Default - one is made."""
    deletion_protection: bool = False
    """Whether deleting it needs a second step. Default: false."""


class ServiceMonitoringSection(Section):
    """When alarms ring; alerts says whom they tell."""

    latency_seconds: float | None = None
    """The slowest hundredth of requests may take so long to the first byte. Default - half of
    request_timeout_seconds."""
    waiting: float | None = None
    """So many requests may wait per task for five minutes. Default - twice the batch."""
    error_percent: float = 5
    """So many of a hundred requests may fail. Default: 5."""


class CompileSection(Section):
    """A build on CPU that compiles a model for these shapes into a folder of its own in prefix, when you start it."""

    source: HubId | None = None
    """A model on the Hugging Face Hub. Default - exported is given instead."""
    revision: Annotated[str | None, Field(examples=["40c069824f4251a91eefaf281ebe4c544efd3e18"])] = None
    """Its commit there, which a branch is not. Default - exported is given instead."""
    exported: Annotated[str | None, Field(examples=["exports/llama-2-7b/step-10000/"])] = None
    """A folder of the models bucket that jobs/export-for-serving wrote. Default - source is given instead."""
    hub_token_secret_arn: SecretArn | None = None
    """A secret whose whole value is a token of the Hub, for a gated model. Default - none."""
    timeout_hours: Annotated[int, shown(minimum=1, maximum=8)] = 8
    """The longest that a build may take. Default: 8."""


class ServingSection(Section):
    """A model on ECS with inf2 hosts, behind a door that speaks OpenAI's protocol."""

    model: ModelSection
    """What is served."""
    engine: EngineSection = EngineSection()
    """What serves it. Default - vLLM of Hugging Face's optimum-neuron."""
    hosts: HostsSection
    """The instances it runs on."""
    door: DoorSection
    """The way in."""
    scaling: ScalingSection | None = None
    """What moves the number of tasks. Default - it stays as hosts says."""
    monitoring: ServiceMonitoringSection = ServiceMonitoringSection()
    """When alarms ring. Default - all have thresholds."""
    node_health: Literal["replace", "report", "off"] = "replace"
    """What becomes of a host whose Neuron device breaks; AWS's detector watches every host, unless off.
    Default: replace."""
    node_health_repository_arn: RepositoryArn | None = None
    """An ECR repository of yours with a copy of the detector, tag v0.8.19. Default - the Kubernetes project's."""
    compile: CompileSection | None = None
    """A build that compiles the model into a folder of prefix. Default - you put the compiled model there."""
    request_timeout_seconds: Annotated[int, shown(minimum=30, maximum=3600)] = 600
    """The longest that a request may take, silent or not. Default: 600."""
    log_retention_days: RetentionDays = 90
    """How long logs are kept. Default: 90."""
    log_key_arn: KeyArn | None = None
    """KMS key of the log groups; its policy must let CloudWatch Logs use it. Default - CloudWatch Logs' own."""
