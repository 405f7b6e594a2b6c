"""Where an engine's image is pulled from, and what that takes."""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Annotations, Aws, Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.options.texts import PRIVATE_IMAGE
from cdk_trainyard.serving.catalogue import registry_account
from cdk_trainyard.serving.managed_role import ManagedRole, statement
from cdk_trainyard.serving.spec_model import TextGenerationEngine
from cdk_trainyard.storage.node_grants import PULL_ACTIONS
from cdk_trainyard.tokens import unresolved


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageReference:
    """An image as ECS and CodeBuild name it.

    Attributes:
        uri: Registry, repository and tag or digest.
        repository_arn: Its repository, when it is in ECR. None: a registry that asks nobody.
    """

    uri: str
    repository_arn: str | None

    @classmethod
    def of(cls, engine: TextGenerationEngine, stack: Stack) -> "ImageReference":
        """Return where an engine's image is pulled from in a stack."""
        image = engine.container
        if engine.repository is not None:
            return cls.of_copy(engine.repository, engine.tag or "latest")
        if image.repository is None:
            return cls.of_uri(image.reference or image.key, stack)
        account = registry_account(stack.region) or Aws.ACCOUNT_ID
        return cls(
            uri=f"{account}.dkr.ecr.{stack.region}.{Aws.URL_SUFFIX}/{image.repository}:{image.tag}",
            repository_arn=stack.format_arn(
                service="ecr", resource="repository", resource_name=image.repository, account=account
            ),
        )

    @classmethod
    def of_uri(cls, uri: str, stack: Stack) -> "ImageReference":
        """Return an image that is named with its registry; which may be ECR's of any account and Region."""
        found = None if unresolved(uri) else PRIVATE_IMAGE.fullmatch(uri)
        if found is None:
            return cls(uri=uri, repository_arn=None)
        arn = stack.format_arn(
            service="ecr",
            account=found["account"],
            region=found["region"],
            resource="repository",
            resource_name=found["repository"],
        )
        return cls(uri=uri, repository_arn=arn)

    @classmethod
    def of_copy(cls, repository: ecr.IRepository, tag: str) -> "ImageReference":
        """Return an image of a repository in ECR, by tag or digest."""
        uri = repository.repository_uri_for_tag_or_digest(tag)
        return cls(uri=uri, repository_arn=repository.repository_arn)

    def allow_pull(self, role: ManagedRole) -> None:
        """Let a role pull it: CDK's ``from_registry`` adds nothing for a registry of AWS."""
        if self.repository_arn is None:
            return
        role.allow(*self._statements(self.repository_arn))
        role.acknowledge("a token for ECR is a token for all of it; the API knows no narrower one", "*")

    @staticmethod
    def has_rights(scope: Construct) -> None:
        """Answer CDK's warning about images of ECR: whoever defines containers in this scope allowed their pulls."""
        Annotations.of(scope).acknowledge_warning(
            "@aws-cdk/aws-ecs:ecrImageRequiresPolicy", "the execution role has the rights that pulling takes"
        )

    @staticmethod
    def _statements(repository_arn: str) -> Sequence[iam.PolicyStatement]:
        return statement(PULL_ACTIONS, [repository_arn]), statement(["ecr:GetAuthorizationToken"], ["*"])
