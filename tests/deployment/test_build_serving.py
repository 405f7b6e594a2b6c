"""The serving section becomes constructs: what the file says arrives in the template."""

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App
from aws_cdk.assertions import Match, Template

from cdk_trainyard.deployment import Deployment
from stacks import build_stacks

DATA = Path(__file__).parent / "data"


def built(name: str) -> Template:
    stacks = {stack.node.id: stack for stack in build_stacks(App(), Deployment.load(DATA / f"{name}.yaml"))}
    return Template.from_stack(stacks["ServingStack"])


@pytest.fixture(scope="module")
def new() -> Template:
    return built("everything_serving")


@pytest.fixture(scope="module")
def existing() -> Template:
    return built("existing_serving")


def container(template: Template, name: str) -> dict[str, Any]:
    definitions = template.find_resources("AWS::ECS::TaskDefinition").values()
    (found,) = [
        entry
        for definition in definitions
        for entry in definition["Properties"]["ContainerDefinitions"]
        if entry["Name"] == name
    ]
    return dict(found)


def environment(template: Template, name: str) -> dict[str, str]:
    return {entry["Name"]: entry["Value"] for entry in container(template, name)["Environment"]}


def statements(template: Template, kind: str = "AWS::IAM::ManagedPolicy") -> list[dict[str, Any]]:
    return [
        statement
        for policy in template.find_resources(kind).values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]


# ---------------------------------------------------------------- the model, the engine and the hosts
def test_the_model_reaches_the_engine(new: Template) -> None:
    found = environment(new, "engine")
    assert found["SM_ON_SERVED_MODEL_NAME"] == "own-8b"
    shapes = (found["SM_ON_BATCH_SIZE"], found["SM_ON_SEQUENCE_LENGTH"], found["SM_ON_TENSOR_PARALLEL_SIZE"])
    assert shapes == ("8", "8192", "2")
    assert found["VLLM_LOGGING_LEVEL"] == "WARNING"


def test_the_hosts(new: Template) -> None:
    new.has_resource_properties("AWS::AutoScaling::AutoScalingGroup", {"MinSize": "0", "MaxSize": "8"})
    new.has_resource_properties(
        "AWS::EC2::LaunchTemplate",
        {
            "LaunchTemplateData": Match.object_like(
                {
                    "InstanceType": "inf2.8xlarge",
                    "BlockDeviceMappings": [
                        Match.object_like({"Ebs": Match.object_like({"Throughput": 1000, "Encrypted": True})})
                    ],
                }
            )
        },
    )
    images = [str(entry["Default"]) for entry in new.find_parameters("*").values()]
    assert any("2023.0.20260629-" in image for image in images)
    (provider,) = new.find_resources("AWS::ECS::CapacityProvider").values()
    assert provider["Properties"]["AutoScalingGroupProvider"]["ManagedTerminationProtection"] == "ENABLED"


def test_the_weights_are_those_of_the_deployment_s_models_bucket(new: Template, existing: Template) -> None:
    """Training writes there; the hosts read the model's builds in it, with its key."""
    read = [found for found in statements(new) if found["Action"] == "s3:GetObject"]
    assert "/runs/7/neuron/*" in json.dumps(read)
    assert "everything-serving-storage:ExportsOutputFnGetAttBucketsModels" in json.dumps(read)
    read = [found for found in statements(existing) if found["Action"] == "s3:GetObject"]
    assert ":s3:::my-models/llama-3.2-3b/*" in json.dumps(read)
    assert "key/11111111-" in json.dumps([found for found in statements(existing) if found["Action"] == "kms:Decrypt"])


def test_scaling_has_bounds_metric_and_hours(new: Template) -> None:
    new.has_resource_properties(
        "AWS::ApplicationAutoScaling::ScalableTarget",
        {
            "MinCapacity": 1,
            "MaxCapacity": 4,
            "ScheduledActions": Match.array_with(
                [
                    Match.object_like(
                        {
                            "Schedule": "cron(0 20 ? * MON-FRI *)",
                            "Timezone": "Europe/Berlin",
                            "ScalableTargetAction": {"MinCapacity": 0, "MaxCapacity": 0},
                        }
                    )
                ]
            ),
        },
    )
    new.has_resource_properties(
        "AWS::ApplicationAutoScaling::ScalingPolicy",
        {
            "TargetTrackingScalingPolicyConfiguration": Match.object_like(
                {
                    "TargetValue": 42.5,
                    "ScaleInCooldown": 1200,
                    "PredefinedMetricSpecification": Match.object_like(
                        {"PredefinedMetricType": "ALBRequestCountPerTarget"}
                    ),
                }
            )
        },
    )


def test_the_command_that_renews_secrets_is_put_out_where_tasks_hold_one(new: Template, existing: Template) -> None:
    said = json.dumps(existing.find_outputs("RenewSecretsCommand")["RenewSecretsCommand"]["Value"])
    assert "aws ecs update-service --region us-east-1 --cluster " in said
    assert said.endswith(' --force-new-deployment"]]}')
    assert not new.find_outputs("RenewSecretsCommand")


def test_an_image_of_yours_is_pulled_from_your_repository(existing: Template) -> None:
    image = json.dumps(container(existing, "engine")["Image"])
    assert "111111111111.dkr.ecr.us-east-1." in image
    assert "/mirror/tgi:3.3.7-neuron" in image
    pulls = [found for found in statements(existing) if "ecr:BatchGetImage" in found["Action"]]
    assert "repository/mirror/tgi" in json.dumps(pulls)


def test_secrets_and_keys_that_exist_may_be_used(existing: Template) -> None:
    secrets = {entry["Name"]: entry["ValueFrom"] for entry in container(existing, "engine")["Secrets"]}
    assert secrets["API_KEY"].endswith("secret:api-key-AbCdEf")
    assert secrets["HF_TOKEN"].endswith("secret:hub-token-AbCdEf")
    assert "key/33333333-" in json.dumps(statements(existing))
    template = json.dumps(existing.find_resources("AWS::EC2::LaunchTemplate"))
    assert "key/22222222-" in template
    for group in existing.find_resources("AWS::Logs::LogGroup").values():
        assert "key/44444444-" in json.dumps(group["Properties"]["KmsKeyId"])


# ---------------------------------------------------------------- the load balancer
def test_a_public_load_balancer_with_tokens(new: Template) -> None:
    new.has_resource_properties("AWS::ElasticLoadBalancingV2::LoadBalancer", {"Scheme": "internet-facing"})
    (rule,) = new.find_resources("AWS::ElasticLoadBalancingV2::ListenerRule").values()
    verify = rule["Properties"]["Actions"][0]["JwtValidationConfig"]
    assert (verify["Issuer"], verify["JwksEndpoint"]) == (
        "https://issuer.example.com/pool",
        "https://issuer.example.com/pool/keys",
    )
    assert verify["AdditionalClaims"] == [
        {"Format": "single-string", "Name": "client_id", "Values": ["chat", "batch"]},
        {"Format": "space-separated-values", "Name": "scope", "Values": ["models/read"]},
    ]
    paths = [condition for condition in rule["Properties"]["Conditions"] if condition["Field"] == "path-pattern"]
    assert paths[0]["PathPatternConfig"]["Values"] == ["/v1/chat/completions", "/v1/models"]


def test_callers_limits_and_waf(new: Template) -> None:
    groups = [
        group["Properties"].get("SecurityGroupIngress", [])
        for group in new.find_resources("AWS::EC2::SecurityGroup").values()
    ]
    blocks = {rule["CidrIp"] for rules in groups for rule in rules if "CidrIp" in rule}
    assert blocks == {"203.0.113.0/24", "198.51.100.0/24"}
    (acl,) = new.find_resources("AWS::WAFv2::WebACL").values()
    rates = [rule["Statement"].get("RateBasedStatement") for rule in acl["Properties"]["Rules"]]
    assert {"AggregateKeyType": "IP", "Limit": 1000} in rates
    new.resource_count_is("AWS::WAFv2::WebACLAssociation", 1)
    assert environment(new, "agent")["TARGET_CONTROL_MAX_CONCURRENCY"] == "24"
    assert container(new, "agent")["Image"] == "registry.example/agent:1"
    attributes = json.dumps(new.find_resources("AWS::ElasticLoadBalancingV2::LoadBalancer"))
    assert '{"Key": "deletion_protection.enabled", "Value": "true"}' in attributes
    assert '{"Key": "idle_timeout.timeout_seconds", "Value": "900"}' in attributes


def test_an_internal_load_balancer_in_a_network_that_exists(existing: Template) -> None:
    (balancer,) = existing.find_resources("AWS::ElasticLoadBalancingV2::LoadBalancer").values()
    properties = balancer["Properties"]
    assert properties["Scheme"] == "internal"
    assert properties["Subnets"] == ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"]
    assert {"Key": "access_logs.s3.bucket", "Value": "my-logs"} in properties["LoadBalancerAttributes"]
    existing.resource_count_is("AWS::S3::Bucket", 0)
    rule = Match.object_like({"CidrIp": "10.1.0.0/16", "FromPort": 80})
    existing.has_resource_properties("AWS::EC2::SecurityGroup", {"SecurityGroupIngress": [rule]})


# ---------------------------------------------------------------- who is told, and the build
def test_a_new_topic_is_told_by_cloudwatch(new: Template) -> None:
    new.has_resource_properties("AWS::SNS::Subscription", {"Protocol": "email", "Endpoint": "ops@example.com"})
    publishers = [
        (found["Principal"], *found["Condition"]["StringEquals"])
        for found in statements(new, "AWS::SNS::TopicPolicy")
        if found["Effect"] == "Allow" and found["Action"] == "sns:Publish"
    ]
    assert publishers == [({"Service": "cloudwatch.amazonaws.com"}, "aws:SourceAccount")]
    keys = json.dumps(new.find_resources("AWS::KMS::Key"))
    assert '"Service": "cloudwatch.amazonaws.com"' in keys
    composite = new.find_resources("AWS::CloudWatch::CompositeAlarm")
    alarms = {**new.find_resources("AWS::CloudWatch::Alarm"), **composite}
    told = {name: len(alarm["Properties"].get("AlarmActions", [])) for name, alarm in alarms.items()}
    halves = {name for name in told if name.startswith(("MonitoringNoneHealthy", "MonitoringNoHostWanted"))}
    assert (len(halves), len(told)) == (2, 10)
    assert {told[name] for name in halves} == {0}
    assert {told[name] for name in told.keys() - halves} == {1}


def test_alarms_ring_when_the_file_says(new: Template) -> None:
    found = {
        alarm["Properties"]["AlarmDescription"].split(",")[0]: alarm["Properties"]["Threshold"]
        for alarm in new.find_resources("AWS::CloudWatch::Alarm").values()
    }
    assert found["the slowest hundredth"] == 120
    assert found["requests that wait in the engine"] == 16
    assert found["percent of requests that fail (5xx)"] == 2.5


def test_a_topic_that_exists_is_told(existing: Template) -> None:
    existing.resource_count_is("AWS::SNS::Topic", 0)
    for alarm in existing.find_resources("AWS::CloudWatch::Alarm").values():
        assert alarm["Properties"]["AlarmActions"] == ["arn:aws:sns:us-east-1:111111111111:ops"]


def test_broken_devices_are_only_reported(new: Template, existing: Template) -> None:
    assert environment(new, "recovery")["ENABLE_RECOVERY"] == "false"
    assert environment(existing, "recovery")["ENABLE_RECOVERY"] == "true"


def test_the_build_compiles_what_is_served(new: Template) -> None:
    (project,) = new.find_resources("AWS::CodeBuild::Project").values()
    properties = project["Properties"]
    assert properties["TimeoutInMinutes"] == 240
    assert (properties["Artifacts"]["Path"], properties["Artifacts"]["Name"]) == ("runs/7", "neuron")
    plan = json.loads(properties["Source"]["BuildSpec"])["phases"]["build"]["commands"][-1]
    assert (
        '"source": "meta-llama/Llama-3.1-8B-Instruct", "revision": "0e9e39f249a16976918f6564b8830bc894c89659"' in plan
    )
    assert properties["Environment"]["EnvironmentVariables"] == [
        {
            "Name": "HF_TOKEN",
            "Type": "SECRETS_MANAGER",
            "Value": "arn:aws:secretsmanager:us-west-2:111111111111:secret:hub-token-AbCdEf",
        }
    ]


def test_nothing_runs_until_a_build_is_named_and_then_what_the_file_says(tmp_path: Path) -> None:
    unbuilt = built("unbuilt_serving")
    group = {"MinSize": "0", "MaxSize": "1"}
    unbuilt.has_resource_properties("AWS::ECS::Service", {"DesiredCount": 0, "LaunchType": Match.absent()})
    unbuilt.has_resource_properties("AWS::AutoScaling::AutoScalingGroup", group)
    unbuilt.resource_count_is("AWS::ApplicationAutoScaling::ScalableTarget", 0)
    named = tmp_path / "named.yaml"
    said = (DATA / "unbuilt_serving.yaml").read_text()
    named.write_text(said.replace("    tensor_parallel", "    build: 3f9a0c51d7e2\n    tensor_parallel"))
    (stack,) = [stack for stack in build_stacks(App(), Deployment.load(named)) if stack.node.id == "ServingStack"]
    template = Template.from_stack(stack)
    template.has_resource_properties("AWS::AutoScaling::AutoScalingGroup", {"MinSize": "2", "MaxSize": "4"})
    template.resource_count_is("AWS::ApplicationAutoScaling::ScalableTarget", 1)


def test_every_log_group_is_kept_as_long_as_the_file_says(new: Template) -> None:
    kept = {group["Properties"]["RetentionInDays"] for group in new.find_resources("AWS::Logs::LogGroup").values()}
    assert kept == {365}
