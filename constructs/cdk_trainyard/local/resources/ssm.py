"""Systems Manager: parameters and documents."""

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, constant, given, tagger

SSM = Api("ssm")


def _format(it: Resource) -> dict[str, str]:
    return {"DocumentFormat": it.get("DocumentFormat", "JSON")}


TYPES = (
    ResourceType(
        name="AWS::SSM::Parameter",
        create=SSM.apply("put_parameter"),
        identity=given("Name"),
        update=SSM.apply("put_parameter", constant({"Overwrite": True}), but=("Tags",)),
        retag=tagger(
            "ssm",
            "add_tags_to_resource",
            "remove_tags_from_resource",
            lambda it: {"ResourceType": "Parameter", "ResourceId": it.id},
        ),
        delete=SSM.forget("delete_parameter", lambda it: {"Name": it.id}),
        read=SSM.read("get_parameter", lambda it: {"Name": it.id}, "Parameter.{Value: Value, Type: Type}"),
        attributes={
            "Arn": lambda it: it.where.arn("ssm", f"parameter/{it.id.lstrip('/')}"),
            "Type": given("Type"),
            "Value": given("Value"),
        },
        named=Name(property="Name", limit=1011),
    ),
    ResourceType(
        name="AWS::SSM::Document",
        create=SSM.apply("create_document", _format),
        identity=given("Name"),
        update=SSM.apply("update_document", lambda it: {**_format(it), "DocumentVersion": "$LATEST"}),
        delete=SSM.forget("delete_document", lambda it: {"Name": it.id}),
        read=SSM.read("describe_document", lambda it: {"Name": it.id}),
        named=Name(property="Name", limit=128),
    ),
)
