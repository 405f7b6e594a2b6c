"""CodeBuild: projects. Nothing is built."""

from cdk_trainyard.local.resources.model import Name, ResourceType
from cdk_trainyard.local.resources.steps import Api, arn, given

BUILDS = Api("codebuild")

TYPES = (
    ResourceType(
        name="AWS::CodeBuild::Project",
        create=BUILDS.apply("create_project"),
        identity=given("Name"),
        update=BUILDS.put("update_project", lambda it: {"Name": it.id}, but=("Name",)),
        delete=BUILDS.forget("delete_project", lambda it: {"Name": it.id}),
        read=BUILDS.read("batch_get_projects", lambda it: {"Names": [it.id]}, "projects[0] && `{}`"),
        attributes={"Arn": arn("codebuild", "project/{}")},
        named=Name(property="Name", limit=150),
    ),
)
