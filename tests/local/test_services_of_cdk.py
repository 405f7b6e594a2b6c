"""CDK's own constructs of services that training stands beside: deployed, nothing ignored, and gone afterwards."""

import json

import aws_cdk as cdk
import pytest
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_apigatewayv2 as apigatewayv2
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_batch as batch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_efs as efs
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_kinesis as kinesis
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_sqs as sqs
from aws_cdk.assertions import Template

from cdk_trainyard.local import LocalAws
from tests.local.stacks import Stacks

_CODE = "def handler(event, context):\n    return {'statusCode': 200}\n"
_LATEST = lambda_.StartingPosition.LATEST
_ISOLATED = ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)


def _events(scope: cdk.Stack, function: lambda_.Function) -> None:
    table = dynamodb.Table(
        scope,
        "Table",
        partition_key=dynamodb.Attribute(name="run", type=dynamodb.AttributeType.STRING),
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        stream=dynamodb.StreamViewType.NEW_IMAGE,
        time_to_live_attribute="expires",
        encryption=dynamodb.TableEncryption.AWS_MANAGED,
        removal_policy=cdk.RemovalPolicy.DESTROY,
    )
    step = dynamodb.Attribute(name="step", type=dynamodb.AttributeType.NUMBER)
    table.add_global_secondary_index(index_name="steps", partition_key=step)
    stream = kinesis.Stream(scope, "Stream", encryption=kinesis.StreamEncryption.MANAGED)
    for source in (
        sources.SqsEventSource(sqs.Queue(scope, "Queue")),
        sources.KinesisEventSource(stream, starting_position=_LATEST),
        sources.DynamoEventSource(table, starting_position=_LATEST),
    ):
        function.add_event_source(source)
    bus = events.EventBus(scope, "Bus")
    pattern = events.EventPattern(source=["training"])
    events.Rule(scope, "Rule", event_bus=bus, event_pattern=pattern, targets=[targets.LambdaFunction(function)])


def _doors(scope: cdk.Stack, function: lambda_.Function) -> None:
    options = apigateway.StageOptions(logging_level=apigateway.MethodLoggingLevel.INFO, tracing_enabled=True)
    rest = apigateway.LambdaRestApi(
        scope, "Rest", handler=function, proxy=False, cloud_watch_role=True, deploy_options=options
    )
    rest.root.add_resource("runs").add_method("GET")
    http = apigatewayv2.HttpApi(
        scope, "Http", cors_preflight=apigatewayv2.CorsPreflightOptions(allow_origins=["https://example.com"])
    )
    proxy = integrations.HttpLambdaIntegration("Proxy", function)
    http.add_routes(path="/runs", methods=[apigatewayv2.HttpMethod.GET], integration=proxy)


def _jobs(scope: cdk.Stack) -> None:
    vpc = ec2.Vpc(scope, "Vpc", max_azs=2, nat_gateways=0, restrict_default_security_group=False)
    files = efs.FileSystem(scope, "Files", vpc=vpc, vpc_subnets=_ISOLATED, removal_policy=cdk.RemovalPolicy.DESTROY)
    files.add_access_point("Home", path="/home", posix_user=efs.PosixUser(uid="1000", gid="1000"))
    environment = batch.ManagedEc2EcsComputeEnvironment(
        scope,
        "Nodes",
        vpc=vpc,
        vpc_subnets=_ISOLATED,
        instance_types=[ec2.InstanceType("p5.48xlarge")],
        use_optimal_instance_classes=False,
    )
    order = batch.OrderedComputeEnvironment(compute_environment=environment, order=1)
    batch.JobQueue(scope, "Jobs", compute_environments=[order])
    container = batch.EcsEc2ContainerDefinition(
        scope, "Container", image=ecs.ContainerImage.from_registry("train"), cpu=1, memory=cdk.Size.gibibytes(1)
    )
    rank = batch.MultiNodeContainer(container=container, start_node=0, end_node=3)
    batch.MultiNodeJobDefinition(scope, "Training", containers=[rank])


@pytest.mark.slow
def test_they_deploy_and_nothing_of_them_is_ignored(aws: LocalAws, stacks: Stacks) -> None:
    stack = cdk.Stack(cdk.App(), "Services", synthesizer=cdk.LegacyStackSynthesizer())
    function = lambda_.Function(
        stack,
        "Function",
        runtime=lambda_.Runtime.PYTHON_3_12,
        handler="index.handler",
        code=lambda_.Code.from_inline(_CODE),
    )
    _events(stack, function)
    _doors(stack, function)
    _jobs(stack)
    body = Template.from_stack(stack).to_json()
    name = stacks.name()
    aws.client("s3").create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": aws.region})
    aws.client("s3").put_object(Bucket=name, Key="template.json", Body=json.dumps(body).encode())
    stacks.client.create_stack(
        StackName=name, TemplateURL=f"{aws.endpoint}/{name}/template.json", Capabilities=["CAPABILITY_IAM"]
    )
    stacks.client.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig={"Delay": 1})
    assert [reason for reason in stacks.reasons(name) if "local: " in reason] == []
    assert stacks.delete(name) == "DELETE_COMPLETE"
