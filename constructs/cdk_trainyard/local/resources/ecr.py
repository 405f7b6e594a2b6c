"""ECR: repositories."""

from typing import Any

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, given, tagger

ECR = Api("ecr")


def _settle(it: Resource) -> None:
    name = {"RepositoryName": it.id}
    if "RepositoryPolicyText" in it:
        it.call("ecr", "set_repository_policy", {**name, "PolicyText": it["RepositoryPolicyText"]})
    if "LifecyclePolicy" in it:
        it.call("ecr", "put_lifecycle_policy", {**name, **it["LifecyclePolicy"]})
    it.get("EmptyOnDelete")


def _update(it: Resource) -> None:
    name = {"RepositoryName": it.id}
    if it.changed("ImageTagMutability"):
        it.call("ecr", "put_image_tag_mutability", {**name, **it.pick("ImageTagMutability")})
    if it.changed("ImageScanningConfiguration"):
        it.call("ecr", "put_image_scanning_configuration", {**name, **it.pick("ImageScanningConfiguration")})
    _settle(it)


def _deletion(it: Resource) -> dict[str, Any]:
    return {"RepositoryName": it.id, "Force": it.flag("EmptyOnDelete")}


TYPES = (
    ResourceType(
        name="AWS::ECR::Repository",
        create=ECR.apply("create_repository"),
        identity=given("RepositoryName"),
        settle=_settle,
        update=_update,
        retag=tagger(
            "ecr",
            "tag_resource",
            "untag_resource",
            lambda it: {"ResourceArn": answer("repository.repositoryArn")(it)},
        ),
        delete=ECR.forget("delete_repository", _deletion),
        read=ECR.read("describe_repositories", lambda it: {"RepositoryNames": [it.id]}),
        attributes={"Arn": answer("repository.repositoryArn"), "RepositoryUri": answer("repository.repositoryUri")},
        named=Name(property="RepositoryName", limit=256, lower=True),
    ),
)
