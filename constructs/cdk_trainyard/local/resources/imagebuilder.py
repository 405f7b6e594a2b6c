"""EC2 Image Builder: components, recipes, pipelines, images and what they are built with."""

from typing import Any

from cdk_trainyard.local.resources.model import Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, identity, tagger

BUILDER = Api("imagebuilder")
_TAGS = tagger(
    "imagebuilder",
    "tag_resource",
    "untag_resource",
    lambda it: {"ResourceArn": it.id},
    tags="tags",
    keys="tagKeys",
)


def _version(it: Resource) -> dict[str, Any]:
    return {"SemanticVersion": it["Version"]}


def _image(it: Resource) -> Any:
    found = it.call("imagebuilder", "get_image", {"ImageBuildVersionArn": it.id})
    return found["image"]


def _delete_image(it: Resource) -> None:
    """Delete an image; with what was made of it, where its deletion settings name a role that may."""
    role = (it.get("DeletionSettings") or {}).get("ExecutionRole")
    if role is None:
        BUILDER.forget("delete_image", lambda it: {"ImageBuildVersionArn": it.id})(it)
        return
    resources = {"amis": True, "snapshots": True}
    BUILDER.forget(
        "start_resource_state_update",
        lambda it: {
            "ResourceArn": it.id,
            "State": {"Status": "DELETED"},
            "ExecutionRole": role,
            "IncludeResources": resources,
        },
    )(it)


def _versioned(title: str, word: str, key: str) -> ResourceType:
    """Return a type whose every change is a new version, which is a new resource."""
    return ResourceType(
        name=f"AWS::ImageBuilder::{title}",
        create=BUILDER.apply(f"create_{word}", _version),
        identity=answer(key),
        retag=_TAGS,
        delete=BUILDER.forget(f"delete_{word}", lambda it: {key: it.id}),
        read=BUILDER.read(f"get_{word}", lambda it: {key: it.id}),
        attributes={"Arn": identity},
    )


def _changeable(title: str, word: str, key: str) -> ResourceType:
    """Return a type that changes in place."""
    return ResourceType(
        name=f"AWS::ImageBuilder::{title}",
        create=BUILDER.apply(f"create_{word}"),
        identity=answer(key),
        update=BUILDER.put(f"update_{word}", lambda it: {key: it.id}),
        retag=_TAGS,
        delete=BUILDER.forget(f"delete_{word}", lambda it: {key: it.id}),
        read=BUILDER.read(f"get_{word}", lambda it: {key: it.id}),
        attributes={"Arn": identity},
    )


TYPES = (
    _versioned("Component", "component", "componentBuildVersionArn"),
    _versioned("ImageRecipe", "image_recipe", "imageRecipeArn"),
    _changeable("ImagePipeline", "image_pipeline", "imagePipelineArn"),
    _changeable("InfrastructureConfiguration", "infrastructure_configuration", "infrastructureConfigurationArn"),
    _changeable("DistributionConfiguration", "distribution_configuration", "distributionConfigurationArn"),
    ResourceType(
        name="AWS::ImageBuilder::Image",
        create=BUILDER.apply("create_image"),
        identity=answer("imageBuildVersionArn"),
        retag=_TAGS,
        delete=_delete_image,
        read=BUILDER.read("get_image", lambda it: {"ImageBuildVersionArn": it.id}),
        attributes={
            "Arn": identity,
            "ImageId": lambda it: _image(it)["outputResources"]["amis"][0]["image"],
            "Name": lambda it: _image(it)["name"],
        },
    ),
)
