"""The serving section as the values that constructs take, with which the rules are asked too. Nothing is defined."""

from typing import Any, Protocol

from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager

from cdk_trainyard.deployment.serving.section import (
    AuthenticationSection,
    ConcurrencySection,
    EngineSection,
    ModelSection,
    ScalingSection,
)
from cdk_trainyard.serving import (
    AuthenticationKind,
    ConcurrencyLimit,
    DoorAuthentication,
    JwtClaim,
    ModelShape,
    NeuronModel,
    ScalingSchedule,
    ServiceScaling,
    TextGenerationEngine,
)


class Imports(Protocol):
    """What exists already, by its ARN."""

    def repository(self, arn: str) -> ecr.IRepository:
        """Return a repository."""

    def secret(self, arn: str, key_arn: str | None = None) -> secretsmanager.ISecret:
        """Return a secret."""


class Presence:
    """Stands in for :class:`Imports` where a rule asks only whether something was given."""

    def repository(self, arn: str) -> Any:
        """Return what is not None."""
        return arn

    def secret(self, arn: str, key_arn: str | None = None) -> Any:  # noqa: ARG002  as Imports has it
        """Return what is not None."""
        return arn


def shape(section: ModelSection) -> ModelShape:
    """Return the model's shape.

    Raises:
        ConfigurationError: There is no preset of that name.
    """
    own = section.shape
    if own is None:
        return ModelShape.preset(section.preset or "")
    return ModelShape(
        name=section.name,
        parameters=own.parameters_billions * 1e9,
        layers=own.layers,
        attention_heads=own.attention_heads,
        key_value_heads=own.key_value_heads,
        head_dimension=own.head_dimension,
    )


def model(section: ModelSection, bucket: s3.IBucket) -> NeuronModel:
    """Return the model in its bucket."""
    return NeuronModel(
        name=section.name,
        shape=shape(section),
        bucket=bucket,
        prefix=section.prefix,
        build=section.build,
        tensor_parallel=section.tensor_parallel,
        batch=section.batch,
        sequence_length=section.sequence_length,
        max_input_tokens=section.max_input_tokens,
        dtype=section.dtype,
        precompiled=section.precompiled,
        presharded=section.presharded,
    )


def engine(section: EngineSection, imports: Imports) -> TextGenerationEngine:
    """Return the engine."""
    token = section.hub_token_secret_arn
    return TextGenerationEngine.of(
        section.kind,
        image=section.image,
        repository=imports.repository(section.repository_arn) if section.repository_arn else None,
        tag=section.tag,
        environment=section.environment,
        hub_token=imports.secret(token) if token else None,
        unchecked=section.unchecked,
    )


def scaling(section: ScalingSection | None) -> ServiceScaling | None:
    """Return what moves the number of tasks."""
    if section is None:
        return None
    return ServiceScaling(
        min_tasks=section.min_tasks,
        max_tasks=section.max_tasks,
        metric=section.metric,
        target=section.target,
        cooldown_seconds=section.cooldown_seconds,
        schedules=[
            ScalingSchedule(
                name=schedule.name,
                schedule=schedule.schedule,
                min_tasks=schedule.min_tasks,
                max_tasks=schedule.max_tasks,
                time_zone=schedule.time_zone,
            )
            for schedule in section.schedules
        ],
    )


def authentication(section: AuthenticationSection, imports: Imports) -> DoorAuthentication:
    """Return who may call."""
    match section.kind:
        case AuthenticationKind.JWT:
            claims = [JwtClaim(name=each.name, values=each.values, format=each.format) for each in section.claims]
            return DoorAuthentication.jwt(
                issuer=section.issuer or "", key_set_url=section.key_set_url or "", claims=claims
            )
        case AuthenticationKind.API_KEY:
            return DoorAuthentication.api_key(imports.secret(section.secret_arn or "", section.secret_key_arn))
        case AuthenticationKind.NONE:
            return DoorAuthentication.none()


def concurrency(section: ConcurrencySection | None) -> ConcurrencyLimit | None:
    """Return how requests are held back at the load balancer."""
    if section is None:
        return None
    if section.image is None:
        return ConcurrencyLimit(requests=section.requests)
    return ConcurrencyLimit(requests=section.requests, image=section.image)
