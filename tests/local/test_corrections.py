"""What moto lacks and this package adds, as users of boto3 see it."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from tests.local.cases_builder import BUILT_OF, NEEDS_RECIPE
from tests.local.stacks import Stacks, outputs_of, template
from tests.local.support import BALANCER, listener, of

_JWT = {
    "Type": "jwt-validation",
    "Order": 1,
    "JwtValidationConfig": {"Issuer": "https://issuer.example", "JwksEndpoint": "https://issuer.example/keys"},
}
_BALANCED: dict[str, Any] = {
    "Balancer": BALANCER,
    "Targets": {
        "Type": "AWS::ElasticLoadBalancingV2::TargetGroup",
        "Properties": {"Port": 80, "Protocol": "HTTP", "VpcId": of("Vpc"), "TargetType": "ip"},
    },
    "Certificate": {
        "Type": "AWS::CertificateManager::Certificate",
        "Properties": {"DomainName": "models.example", "ValidationMethod": "DNS"},
    },
    "Listener": listener(443, "HTTPS", Certificates=[{"CertificateArn": {"Ref": "Certificate"}}]),
    "Rule": {
        "Type": "AWS::ElasticLoadBalancingV2::ListenerRule",
        "Properties": {
            "ListenerArn": {"Ref": "Listener"},
            "Priority": 1,
            "Conditions": [{"Field": "path-pattern", "Values": ["/v1/*"]}],
            "Actions": [_JWT, {"Type": "forward", "Order": 2, "TargetGroupArn": {"Ref": "Targets"}}],
        },
    },
}


@pytest.mark.usefixtures("support")
def test_tokens_are_validated_by_a_listener_rule(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(template(_BALANCED))
    found = aws.client("elbv2").describe_rules(RuleArns=[stacks.physical_id(stack, "Rule")])["Rules"][0]
    assert found["Actions"][0]["JwtValidationConfig"]["Issuer"] == "https://issuer.example"


@pytest.mark.parametrize(
    "name",
    [
        "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04/latest/ami-id",
        "/aws/service/neuron/dlami/base/ubuntu-24.04/latest/image_id",
        "/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id",
        "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/recommended/image_id",
    ],
)
def test_public_images_have_a_parameter(aws: LocalAws, name: str) -> None:
    assert aws.client("ssm").get_parameter(Name=name)["Parameter"]["Value"].startswith("ami-")
    assert aws.client("ssm").get_parameters(Names=[name])["InvalidParameters"] == []


def test_other_parameters_are_still_unknown(aws: LocalAws) -> None:
    with pytest.raises(ClientError, match="ParameterNotFound"):
        aws.client("ssm").get_parameter(Name="/aws/service/neuron/dlami/base/ubuntu-24.04/latest")


# ---------------------------------------------------------------- Image Builder
@pytest.mark.usefixtures("support")
def test_a_pipeline_builds_one_image_after_the_other(aws: LocalAws, stacks: Stacks) -> None:
    pipeline = {"Type": "AWS::ImageBuilder::ImagePipeline", "Properties": {**BUILT_OF, "Name": "often"}}
    outputs = outputs_of(Pipeline={"Ref": "Pipeline"}, Recipe={"Ref": "Recipe"})
    stack = stacks.deployed(template({**NEEDS_RECIPE, "Pipeline": pipeline}, Outputs=outputs))
    builder, found = aws.client("imagebuilder"), stacks.outputs(stack)
    arns = [
        builder.start_image_pipeline_execution(imagePipelineArn=found["Pipeline"])["imageBuildVersionArn"]
        for _ in range(2)
    ]
    assert [arn.rpartition("/")[2] for arn in arns] == ["1", "2"]
    images = [builder.get_image(imageBuildVersionArn=arn)["image"] for arn in arns]
    made = [image["outputResources"]["amis"][0]["image"] for image in images]
    assert aws.client("ssm").get_parameter(Name="/tried/image")["Parameter"]["Value"] == made[-1]
    with pytest.raises(ClientError, match="ResourceDependencyException") as failure:
        builder.delete_image_recipe(imageRecipeArn=found["Recipe"])
    assert found["Pipeline"] in str(failure.value)
    assert stacks.delete(stack) == "DELETE_COMPLETE"


@pytest.mark.usefixtures("support")
@pytest.mark.parametrize(("settings", "left"), [({}, 1), ({"DeletionSettings": {"ExecutionRole": "removes-it"}}, 0)])
def test_an_ami_stays_unless_the_image_says_who_may_delete_it(
    settings: dict[str, Any], left: int, aws: LocalAws, stacks: Stacks
) -> None:
    made = {"Type": "AWS::ImageBuilder::Image", "Properties": {**BUILT_OF, **settings}}
    outputs = outputs_of(Ami={"Fn::GetAtt": ["Image", "ImageId"]})
    stack = stacks.deployed(template({**NEEDS_RECIPE, "Image": made}, Outputs=outputs))
    ami = stacks.outputs(stack)["Ami"]
    assert stacks.delete(stack) == "DELETE_COMPLETE", stacks.reasons(stack)
    filters = [{"Name": "image-id", "Values": [ami]}]
    assert len(aws.client("ec2").describe_images(Filters=filters)["Images"]) == left


@pytest.mark.usefixtures("support")
def test_a_component_that_goes_is_deleted_after_the_recipe_that_is_replaced(aws: LocalAws, stacks: Stacks) -> None:
    arns = [{"ComponentArn": {"Fn::GetAtt": [name, "Arn"]}} for name in ("First", "Second")]

    def body(version: str, count: int) -> dict[str, Any]:
        component = {"Platform": "Linux", "Version": "1.0.0", "Data": "schemaVersion: 1.0"}
        recipe = {"Name": "shrinks", "Version": version, "ParentImage": "ami-1", "Components": arns[:count]}
        names = ("First", "Second")[:count]
        kinds = {
            name: {"Type": "AWS::ImageBuilder::Component", "Properties": {**component, "Name": name}} for name in names
        }
        return template({**kinds, "Recipe": {"Type": "AWS::ImageBuilder::ImageRecipe", "Properties": recipe}})

    stack = stacks.deployed(body("1.0.0", 2))
    second = stacks.physical_id(stack, "Second")
    assert stacks.update(stack, body("1.0.1", 1)) == "UPDATE_COMPLETE", stacks.reasons(stack)
    assert not [row for row in stacks.events(stack) if row["ResourceStatus"] == "DELETE_FAILED"]
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        aws.client("imagebuilder").get_component(componentBuildVersionArn=second)


def test_a_recipe_of_components_that_do_not_exist_is_refused(aws: LocalAws) -> None:
    missing = "arn:aws:imagebuilder:us-west-2:123456789012:component/missing/1.0.0/1"
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        aws.client("imagebuilder").create_image_recipe(
            name="recipe", semanticVersion="1.0.0", parentImage="ami-1", components=[{"componentArn": missing}]
        )


def test_a_component_of_a_name_and_version_exists_once(aws: LocalAws) -> None:
    wanted = {"name": "Only Once", "semanticVersion": "1.0.0", "platform": "Linux", "data": "schemaVersion: 1.0"}
    builder = aws.client("imagebuilder")
    arn = builder.create_component(**wanted)["componentBuildVersionArn"]
    assert arn.endswith("component/only-once/1.0.0/1")
    with pytest.raises(ClientError, match="ResourceAlreadyExistsException"):
        builder.create_component(**wanted)
    builder.tag_resource(resourceArn=arn, tags={"a": "1", "b": "2"})
    builder.untag_resource(resourceArn=arn, tagKeys=["a"])
    assert builder.list_tags_for_resource(resourceArn=arn)["tags"] == {"b": "2"}
    builder.delete_component(componentBuildVersionArn=arn)


def test_other_operations_say_that_they_are_not_emulated(aws: LocalAws) -> None:
    with pytest.raises(ClientError) as failure:
        aws.client("imagebuilder").list_images()
    assert failure.value.response["ResponseMetadata"]["HTTPStatusCode"] == 501


@pytest.mark.parametrize(
    ("topic", "answer"),
    [
        ("topic_arn: t, sigv4: {region: us-west-2}", None),
        ("topic_arn: t", "missing region in sigv4"),
        ("topic_arn: t, api_url: http://x, sigv4: {region: us-west-2}", "api_url is not allowed"),
    ],
)
def test_an_alert_manager_tells_topics_as_the_service_lets_it(aws: LocalAws, topic: str, answer: str | None) -> None:
    amp = aws.client("amp")
    workspace = amp.create_workspace(tags={})["workspaceId"]
    receivers = f"receivers: [{{name: a, sns_configs: [{{{topic}}}]}}]"
    configuration = f"alertmanager_config: |\n  route: {{receiver: a}}\n  {receivers}\n"
    if answer is None:
        amp.create_alert_manager_definition(workspaceId=workspace, data=configuration.encode())
        told = amp.describe_alert_manager_definition(workspaceId=workspace)["alertManagerDefinition"]
        assert told["data"].decode() == configuration
        amp.delete_alert_manager_definition(workspaceId=workspace)
        with pytest.raises(ClientError, match="ResourceNotFoundException"):
            amp.describe_alert_manager_definition(workspaceId=workspace)
    else:
        with pytest.raises(ClientError, match=answer):
            amp.create_alert_manager_definition(workspaceId=workspace, data=configuration.encode())


def test_an_alert_manager_that_calls_somebody_else_is_refused(aws: LocalAws) -> None:
    amp = aws.client("amp")
    workspace = amp.create_workspace(tags={})["workspaceId"]
    for data, answer in (
        ("alertmanager_config: |\n  receivers: [{name: a, webhook_configs: []}]\n", "webhook_configs is not supported"),
        ("route: {}", "error validating Alertmanager config"),
    ):
        with pytest.raises(ClientError, match=answer):
            amp.put_alert_manager_definition(workspaceId=workspace, data=data.encode())
