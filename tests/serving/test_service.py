"""A service: what the smallest call defines, what every choice changes."""

import json
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Duration, Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Match, Template

from cdk_trainyard.serving import (
    InferenceService,
    Rollout,
    ScalingMetric,
    ServiceScaling,
    TextGenerationEngine,
)
from tests.serving.parts import SCHEDULES, hosts, load_balancer, model, network, new_stack, only, service, warnings


@pytest.fixture(scope="module")
def smallest() -> Template:
    """The template of the smallest call."""
    stack = new_stack()
    service(stack)
    return Template.from_stack(stack)


@pytest.fixture(scope="module")
def containers(smallest: Template) -> dict[str, dict[str, Any]]:
    """The containers of the smallest call, by name."""
    return by_name(smallest)


def by_name(template: Template) -> dict[str, dict[str, Any]]:
    definitions = only(template, "AWS::ECS::TaskDefinition")["ContainerDefinitions"]
    return {definition["Name"]: definition for definition in definitions}


def environment(template: Template) -> dict[str, str]:
    return {entry["Name"]: entry["Value"] for entry in by_name(template)["engine"].get("Environment", [])}


def policy(template: Template, word: str) -> list[dict[str, Any]]:
    (found,) = [
        resource["Properties"]["PolicyDocument"]["Statement"]
        for name, resource in template.find_resources("AWS::IAM::ManagedPolicy").items()
        if word in name
    ]
    return list(found)


# ---------------------------------------------------------------- the smallest call
def test_the_service_of_the_smallest_call(smallest: Template) -> None:
    smallest.has_resource_properties(
        "AWS::ECS::Service",
        {
            "DesiredCount": 1,
            "DeploymentConfiguration": {
                "MinimumHealthyPercent": 0,
                "MaximumPercent": 100,
                "DeploymentCircuitBreaker": {"Enable": True, "Rollback": True},
            },
            "PlacementConstraints": [{"Type": "distinctInstance"}],
            "NetworkConfiguration": {
                "AwsvpcConfiguration": {
                    "AssignPublicIp": "DISABLED",
                    "Subnets": ["subnet-00000010", "subnet-00000011"],
                }
            },
            "CapacityProviderStrategy": [{"Weight": 1}],
            "LaunchType": Match.absent(),
            "LoadBalancers": Match.absent(),
            "HealthCheckGracePeriodSeconds": Match.absent(),
        },
    )


def test_the_service_waits_for_the_association_and_the_roles_policy(smallest: Template) -> None:
    (resource,) = smallest.find_resources("AWS::ECS::Service").values()
    (association,) = smallest.find_resources("AWS::ECS::ClusterCapacityProviderAssociations")
    waits = " ".join(resource["DependsOn"])
    assert association in resource["DependsOn"] or "ServingCluster" in waits
    assert "ExecutionRolePolicy" in waits


def test_the_engines_container_is_closed_and_has_its_devices(containers: dict[str, dict[str, Any]]) -> None:
    engine = containers["engine"]
    assert engine["Image"] == "ghcr.io/huggingface/text-generation-inference:3.3.7-neuron"
    assert engine["ReadonlyRootFilesystem"] is True
    assert "Privileged" not in engine
    assert engine["StopTimeout"] == 120
    linux = engine["LinuxParameters"]
    assert linux["Capabilities"] == {"Drop": ["ALL"]}
    assert linux["Devices"] == [
        {"HostPath": "/dev/neuron0", "ContainerPath": "/dev/neuron0", "Permissions": ["read", "write"]}
    ]
    assert linux["SharedMemorySize"] == 1024
    assert linux["InitProcessEnabled"] is True
    in_memory = {entry["ContainerPath"]: entry["Size"] for entry in linux["Tmpfs"]}
    assert in_memory == {"/tmp": 1024, "/var/tmp": 256, "/out": 64}  # noqa: S108  TGI writes its tokenizer to /out
    assert engine["MountPoints"] == [{"ContainerPath": "/model", "ReadOnly": True, "SourceVolume": "model"}]
    assert engine["PortMappings"][0]["ContainerPort"] == 8080
    # one task takes the host: what its system sees, less the reserve, the collector and an agent
    assert engine["Memory"] == int(1024 * (16 * 0.95 - 2)) - 128 - 64


def test_the_task_mounts_what_the_host_has_mounted(smallest: Template) -> None:
    definition = only(smallest, "AWS::ECS::TaskDefinition")
    assert definition["Volumes"] == [{"Name": "model", "Host": {"SourcePath": "/mnt/trainyard/model"}}]
    assert definition["NetworkMode"] == "awsvpc"
    assert definition["RequiresCompatibilities"] == ["EC2"]


def test_the_collector_runs_the_projects_script_in_the_engines_image(containers: dict[str, dict[str, Any]]) -> None:
    collector = containers["collector"]
    assert collector["Image"] == containers["engine"]["Image"]
    assert collector["Essential"] is False
    assert collector["EntryPoint"][:3] == ["python3", "-u", "-c"]
    assert "embedded metric format" in collector["EntryPoint"][3]
    assert collector["Command"] == [
        "http://127.0.0.1:8080/metrics", "15", "CdkTrainyard/Serving", "Stack-Serving-A8AAD866",
        "tgi_queue_size", "RequestsWaiting", "tgi_batch_current_size", "RequestsRunning",
    ]  # fmt: skip
    assert collector["LinuxParameters"]["Capabilities"] == {"Drop": ["ALL"]}
    assert collector["ReadonlyRootFilesystem"] is True


def test_logs_are_kept_for_three_months_and_hold_no_requests(
    smallest: Template, containers: dict[str, dict[str, Any]]
) -> None:
    assert only(smallest, "AWS::Logs::LogGroup")["RetentionInDays"] == 90
    for container in containers.values():
        assert container["LogConfiguration"]["Options"]["mode"] == "non-blocking"
    assert "log-requests" not in json.dumps(containers)


def test_hosts_are_pinned_encrypted_and_keep_their_metadata_from_tasks(smallest: Template) -> None:
    data = only(smallest, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]
    assert data["InstanceType"] == "inf2.xlarge"
    assert data["MetadataOptions"] == {
        "HttpEndpoint": "enabled",
        "HttpPutResponseHopLimit": 1,
        "HttpTokens": "required",
        "InstanceMetadataTags": "disabled",
    }
    assert data["BlockDeviceMappings"] == [
        {
            "DeviceName": "/dev/xvda",
            "Ebs": {
                "DeleteOnTermination": True,
                "Encrypted": True,
                "Iops": 3000,
                "Throughput": 500,
                "VolumeSize": 100,
                "VolumeType": "gp3",
            },
        }
    ]
    parameters = [entry["Default"] for entry in smallest.to_json()["Parameters"].values()]
    assert [entry for entry in parameters if "/neuron/" in str(entry)] == [
        (
            "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/"
            "al2023-ami-ecs-neuron-hvm-2023.0.20260701-kernel-6.1-x86_64/image_id"
        )
    ]
    assert "recommended" not in json.dumps(smallest.to_json())


def test_the_group_and_its_capacity_provider(smallest: Template) -> None:
    group = only(smallest, "AWS::AutoScaling::AutoScalingGroup")
    assert (group["MinSize"], group["MaxSize"]) == ("1", "1")
    assert group["NewInstancesProtectedFromScaleIn"] is False
    assert only(smallest, "AWS::ECS::CapacityProvider")["AutoScalingGroupProvider"] == {
        "AutoScalingGroupArn": Match.any_value(),
        "ManagedDraining": "ENABLED",
        "ManagedScaling": {
            "InstanceWarmupPeriod": 300, "MaximumScalingStepSize": 1, "Status": "ENABLED", "TargetCapacity": 100
        },
        "ManagedTerminationProtection": "DISABLED",
    } | {"AutoScalingGroupArn": only(smallest, "AWS::ECS::CapacityProvider")["AutoScalingGroupProvider"][
        "AutoScalingGroupArn"]}  # fmt: skip


def test_every_permission_is_in_a_managed_policy_and_exact(smallest: Template) -> None:
    smallest.resource_count_is("AWS::IAM::Policy", 0)
    for role in smallest.find_resources("AWS::IAM::Role").values():
        assert "Policies" not in role["Properties"]
    actions = [
        action
        for resource in smallest.find_resources("AWS::IAM::ManagedPolicy").values()
        for statement in resource["Properties"]["PolicyDocument"]["Statement"]
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    ]
    assert [action for action in actions if "*" in action] == []


def test_hosts_read_the_models_prefix_and_nothing_else_of_the_bucket(smallest: Template) -> None:
    statements = [entry for entry in policy(smallest, "Hosts") if "s3:" in json.dumps(entry)]
    assert statements == [
        {
            "Action": "s3:GetObject",
            "Effect": "Allow",
            "Resource": {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::some-models/models/llama/*"]]},
        },
        {
            "Action": "s3:ListBucket",
            "Condition": {"StringLike": {"s3:prefix": ["models/llama", "models/llama/*"]}},
            "Effect": "Allow",
            "Resource": {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::some-models"]]},
        },
    ]


def test_hosts_register_in_their_cluster_alone(smallest: Template) -> None:
    (register,) = [entry for entry in policy(smallest, "Hosts") if "ecs:RegisterContainerInstance" in entry["Action"]]
    assert "Fn::GetAtt" in register["Resource"]
    (poll,) = [entry for entry in policy(smallest, "Hosts") if "ecs:Poll" in entry["Action"]]
    assert "ecs:cluster" in poll["Condition"]["ArnEquals"]


def test_another_build_takes_no_right_from_hosts_of_the_former_and_is_deployed_as_a_task_definition() -> None:
    """Policy and task definition change before the last host of the former build is gone."""
    read, labels = [], []
    for build in ("3f9a0c51d7e2", "88a1b2c3d4e5"):
        stack = new_stack()
        service(stack, of_model={"build": build})
        template = Template.from_stack(stack)
        read.append([entry for entry in policy(template, "Hosts") if "s3:" in json.dumps(entry)])
        labels.append(by_name(template)["engine"]["DockerLabels"])
    assert read[0] == read[1]
    assert labels == [
        {"trainyard.model": f"s3://some-models/models/llama/{build}/"} for build in ("3f9a0c51d7e2", "88a1b2c3d4e5")
    ]


def test_tasks_have_no_way_out_and_hosts_no_way_in(smallest: Template) -> None:
    groups = {
        resource["Properties"]["GroupDescription"]: resource["Properties"]
        for resource in smallest.find_resources("AWS::EC2::SecurityGroup").values()
    }
    hosts = groups["ECS hosts: no way in, HTTPS out"]
    tasks = groups["Tasks that serve a model: the door in, nothing out unless the engine needs the Hub"]
    assert [rule["ToPort"] for rule in hosts["SecurityGroupEgress"]] == [443]
    assert "SecurityGroupIngress" not in hosts
    assert tasks["SecurityGroupEgress"][0]["CidrIp"] == "255.255.255.255/32"  # CDK's word for nowhere


def test_the_cluster_has_container_insights(smallest: Template) -> None:
    assert only(smallest, "AWS::ECS::Cluster")["ClusterSettings"] == [{"Name": "containerInsights", "Value": "enabled"}]


def test_the_smallest_call_warns_of_nothing() -> None:
    stack = new_stack()
    service(stack)
    assert warnings(stack) == []


# ---------------------------------------------------------------- engines
def test_tgi_gets_all_six_variables_that_its_entry_point_compares(smallest: Template) -> None:
    found = environment(smallest)
    assert {
        name: found[name]
        for name in found
        if name.startswith(("MAX_", "HF_NUM", "HF_AUTO")) and name != "MAX_CONCURRENT_REQUESTS"
    } == {
        "MAX_BATCH_SIZE": "4",
        "MAX_INPUT_TOKENS": "2048",
        "MAX_TOTAL_TOKENS": "4096",
        "MAX_BATCH_PREFILL_TOKENS": "8192",
        "HF_NUM_CORES": "2",
        "HF_AUTO_CAST_TYPE": "bf16",
    }
    assert found["MODEL_ID"] == "/model"
    assert found["HF_HUB_OFFLINE"] == "1"
    assert found["USAGE_STATS"] == "off"
    assert int(found["GRACEFUL_TERMINATION_TIMEOUT"]) == 110


def test_hf_vllm_gets_the_same_model_in_its_own_words(stack: Stack) -> None:
    service(stack, engine=TextGenerationEngine.hf_vllm(environment={"VLLM_LOGGING_LEVEL": "WARNING"}))
    template = Template.from_stack(stack)
    assert environment(template) == {
        "AWS_REGION": "us-west-2",  # CDK adds it
        "HF_HUB_OFFLINE": "1",
        "HOME": "/tmp",  # noqa: S108
        "SM_ON_BATCH_SIZE": "4",
        "SM_ON_MODEL": "/model",
        "SM_ON_SEQUENCE_LENGTH": "4096",
        "SM_ON_SERVED_MODEL_NAME": "llama",
        "SM_ON_TENSOR_PARALLEL_SIZE": "2",
        "VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "660",
        "VLLM_LOGGING_LEVEL": "WARNING",
        "VLLM_NO_USAGE_STATS": "1",
    }
    image = json.dumps(by_name(template)["engine"]["Image"])
    assert "763104351884.dkr.ecr.us-west-2." in image
    assert "huggingface-vllm-inference-neuronx:0.11.0-optimum0.4.5-neuronx-py310-sdk2.26.1-ubuntu22.04" in image


def test_the_regional_registry_gets_its_pull_rights(stack: Stack) -> None:
    service(stack, engine=TextGenerationEngine.hf_vllm())
    statements = policy(Template.from_stack(stack), "ExecutionRole")
    (pull,) = [entry for entry in statements if "ecr:BatchGetImage" in entry["Action"]]
    assert "763104351884:repository/huggingface-vllm-inference-neuronx" in json.dumps(pull["Resource"])
    assert [entry["Resource"] for entry in statements if entry["Action"] == "ecr:GetAuthorizationToken"] == ["*"]


@pytest.mark.parametrize(
    ("image", "arn"),
    [
        ("222222222222.dkr.ecr.eu-west-1.amazonaws.com/team/vllm:1", "eu-west-1:222222222222:repository/team/vllm"),
        (
            f"111111111111.dkr-ecr.us-west-2.on.aws/vllm@sha256:{'0' * 64}",
            "us-west-2:111111111111:repository/vllm",
        ),
    ],
)
def test_an_image_of_a_private_registry_is_pulled_with_the_rights_that_takes(
    image: str, arn: str, stack: Stack
) -> None:
    service(stack, engine=TextGenerationEngine.tgi(image=image))
    statements = policy(Template.from_stack(stack), "ExecutionRole")
    (pull,) = [entry for entry in statements if "ecr:BatchGetImage" in entry["Action"]]
    assert pull["Resource"] == {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":ecr:{arn}"]]}
    assert not [text for text in warnings(stack) if "Proper policies" in text]


def test_a_public_registry_asks_for_no_rights(stack: Stack) -> None:
    service(stack, engine=TextGenerationEngine.tgi(image="public.ecr.aws/team/tgi:1"))
    assert "ecr:" not in json.dumps(policy(Template.from_stack(stack), "ExecutionRole"))


def test_neuron_vllm_gets_arguments(stack: Stack) -> None:
    service(stack, engine=TextGenerationEngine.neuron_vllm())
    template = Template.from_stack(stack)
    assert by_name(template)["engine"]["Command"] == [
        "vllm", "serve", "/model", "--port", "8080", "--served-model-name", "llama", "--tensor-parallel-size", "2",
        "--max-num-seqs", "4", "--max-model-len", "4096", "--num-gpu-blocks-override", "4",
        "--no-enable-prefix-caching",
    ]  # fmt: skip
    assert environment(template)["NEURON_COMPILED_ARTIFACTS"] == "/model/compiled"
    assert by_name(template)["collector"]["Command"][4:] == [
        "vllm:num_requests_waiting", "RequestsWaiting", "vllm:num_requests_running", "RequestsRunning",
    ]  # fmt: skip


@pytest.mark.parametrize(("image", "name"), [(None, "0.13.0"), ("registry.example/vllm:1", "own")])
def test_neuron_vllm_compiles_to_disk_and_not_into_the_model(stack: Stack, image: str | None, name: str) -> None:
    shape = {"batch": 2, "precompiled": False}
    engine = TextGenerationEngine.neuron_vllm(image=image)
    service(stack, engine=engine, of_model=shape, instance_type="inf2.8xlarge")
    found = environment(Template.from_stack(stack))["NEURON_COMPILED_ARTIFACTS"]
    assert found == f"/tmp/{name}/2/2/4096/compiled"  # noqa: S108  a folder of the container


@pytest.mark.parametrize(
    ("image", "told"),
    [("neuron-vllm-0.9.1", True), ("neuron-vllm-0.11.0", False), ("neuron-vllm-0.13.0", False)],
)
def test_no_vllm_logs_prompts(image: str, told: bool, stack: Stack) -> None:
    """Before 0.10.1 it does unless it is told not to; from 0.11 on it does not know that option."""
    service(stack, engine=TextGenerationEngine.neuron_vllm(image=image))
    assert ("--disable-log-requests" in by_name(Template.from_stack(stack))["engine"]["Command"]) is told


def test_a_repository_of_ones_own(stack: Stack) -> None:
    repository = ecr.Repository.from_repository_name(stack, "Mirror", "mirror/tgi")
    service(stack, engine=TextGenerationEngine.tgi(repository=repository, tag="sha256:" + "0" * 64))
    template = Template.from_stack(stack)
    assert f"/mirror/tgi@sha256:{'0' * 64}" in json.dumps(by_name(template)["engine"]["Image"])
    assert "repository/mirror/tgi" in json.dumps(policy(template, "ExecutionRole"))


def test_a_model_that_is_compiled_on_start_gets_disk_time_and_a_way_to_the_hub(stack: Stack) -> None:
    token = secretsmanager.Secret.from_secret_name_v2(stack, "Token", "hub-token")
    served = service(
        stack,
        instance_type="inf2.8xlarge",
        engine=TextGenerationEngine.hf_vllm(hub_token=token),
        of_model={"precompiled": False},
    )
    template = Template.from_stack(stack)
    engine = by_name(template)["engine"]
    assert "HF_HUB_OFFLINE" not in environment(template)
    assert engine["Command"] == ["--allow_non_cached_model"]
    assert engine["Secrets"][0]["Name"] == "HF_TOKEN"
    assert "Tmpfs" not in engine["LinuxParameters"]
    assert {entry["ContainerPath"] for entry in engine["MountPoints"] if not entry["ReadOnly"]} == {
        "/tmp", "/var/tmp",  # noqa: S108
    }  # fmt: skip
    assert served.health_grace.to_seconds() == 2 * (13 + 180 + 5400)
    assert "the Hugging Face Hub" in json.dumps(template.find_resources("AWS::EC2::SecurityGroup"))
    assert "secretsmanager:GetSecretValue" in json.dumps(policy(template, "ExecutionRole"))


def test_every_device_of_a_large_host(stack: Stack) -> None:
    served = service(
        stack, instance_type="inf2.48xlarge", of_model={"preset": "llama-3.3-70b", "tensor_parallel": 24, "batch": 8}
    )
    devices = by_name(Template.from_stack(stack))["engine"]["LinuxParameters"]["Devices"]
    assert [entry["HostPath"] for entry in devices] == [f"/dev/neuron{number}" for number in range(12)]
    assert served.sizing.devices == 12


# ---------------------------------------------------------------- choices
def test_everything_set(stack: Stack) -> None:
    net = network(stack)
    key = kms.Key(stack, "Key")
    cluster = ecs.Cluster(stack, "Own", vpc=net.vpc)
    service(
        stack,
        network=net,
        tasks=3,
        max_hosts=8,
        rollout=Rollout.ROLLING,
        cluster=cluster,
        subnets=[net.accelerator_subnet],
        host_image="20260618",
        volume_mib_s=2000,
        volume_key=key,
        log_key=key,
        log_retention=logs.RetentionDays.ONE_YEAR,
        request_timeout=Duration.minutes(20),
        protect=True,
    )
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::ECS::Cluster", 1)
    deployment = only(template, "AWS::ECS::Service")["DeploymentConfiguration"]
    assert (deployment["MinimumHealthyPercent"], deployment["MaximumPercent"]) == (66, 100)
    group = only(template, "AWS::AutoScaling::AutoScalingGroup")
    assert (group["MinSize"], group["MaxSize"], group["NewInstancesProtectedFromScaleIn"]) == ("3", "8", True)
    assert group["VPCZoneIdentifier"] == ["subnet-00000001"]
    volume = only(template, "AWS::EC2::LaunchTemplate")["LaunchTemplateData"]["BlockDeviceMappings"][0]["Ebs"]
    assert (volume["Throughput"], volume["Iops"], "KmsKeyId" in volume) == (2000, 8000, True)
    assert only(template, "AWS::Logs::LogGroup")["RetentionInDays"] == 365
    assert "logs." in json.dumps(only(template, "AWS::KMS::Key")["KeyPolicy"])
    assert "20260618" in json.dumps(template.to_json()["Parameters"])
    assert "serving:protected-hosts" in " ".join(warnings(stack))


def test_warns_of_a_log_key_whose_policy_is_somebody_elses(stack: Stack) -> None:
    arn = "arn:aws:kms:us-west-2:111111111111:key/12345678-1234-1234-1234-123456789012"
    service(stack, log_key=kms.Key.from_key_arn(stack, "Key", arn))
    (found,) = [text for text in warnings(stack) if "serving:log-key" in text]
    assert found == (
        "the policy of the key cannot be changed from here (Stack/Key): it must let CloudWatch Logs use the key for "
        "log groups of this account [ack: @cdk-trainyard/serving:log-key]"
    )
    Template.from_stack(stack).resource_count_is("AWS::KMS::Key", 0)


@pytest.mark.parametrize(
    ("rollout", "tasks", "percent", "hosts"),
    [
        (Rollout.RECREATE, 2, (0, 100), "2"),
        (Rollout.ROLLING, 2, (50, 100), "2"),
        (Rollout.ROLLING, 4, (75, 100), "4"),
        (Rollout.SURGE, 2, (100, 200), "4"),
    ],
)
def test_rollouts(rollout: Rollout, tasks: int, percent: tuple[int, int], hosts: str, stack: Stack) -> None:
    service(stack, rollout=rollout, tasks=tasks)
    template = Template.from_stack(stack)
    deployment = only(template, "AWS::ECS::Service")["DeploymentConfiguration"]
    assert (deployment["MinimumHealthyPercent"], deployment["MaximumPercent"]) == percent
    assert only(template, "AWS::AutoScaling::AutoScalingGroup")["MaxSize"] == hosts


def test_scaling_on_the_queue_with_a_night(stack: Stack) -> None:
    service(stack, scaling=ServiceScaling(min_tasks=1, max_tasks=4, schedules=SCHEDULES))
    template = Template.from_stack(stack)
    target = only(template, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert (target["MinCapacity"], target["MaxCapacity"]) == (1, 4)
    assert [(entry["Schedule"], entry["ScalableTargetAction"], entry["Timezone"]) for entry in
            target["ScheduledActions"]] == [
        ("cron(0 20 ? * MON-FRI *)", {"MaxCapacity": 0, "MinCapacity": 0}, "Etc/UTC"),
        ("cron(0 6 ? * MON-FRI *)", {"MaxCapacity": 4, "MinCapacity": 1}, "Europe/Berlin"),
    ]  # fmt: skip
    tracking = only(template, "AWS::ApplicationAutoScaling::ScalingPolicy")["TargetTrackingScalingPolicyConfiguration"]
    assert tracking["TargetValue"] == 4
    assert tracking["CustomizedMetricSpecification"] == {
        "Dimensions": [{"Name": "Service", "Value": "Stack-Serving-A8AAD866"}],
        "MetricName": "RequestsWaiting",
        "Namespace": "CdkTrainyard/Serving",
        "Statistic": "Average",
    }
    assert only(template, "AWS::AutoScaling::AutoScalingGroup")["MinSize"] == "0"
    assert "DesiredCount" not in only(template, "AWS::ECS::Service")


def test_scaling_on_requests_begins_with_the_door(stack: Stack) -> None:
    served = service(
        stack, scaling=ServiceScaling(min_tasks=1, max_tasks=2, metric=ScalingMetric.ALB_REQUESTS, target=12)
    )
    load_balancer(stack, served)
    tracking = only(Template.from_stack(stack), "AWS::ApplicationAutoScaling::ScalingPolicy")[
        "TargetTrackingScalingPolicyConfiguration"
    ]
    assert tracking["TargetValue"] == 12
    assert tracking["PredefinedMetricSpecification"]["PredefinedMetricType"] == "ALBRequestCountPerTarget"


def test_tokens_pass(stack: Stack) -> None:
    bucket = CfnParameter(stack, "BucketName").value_as_string
    prefix = CfnParameter(stack, "Prefix").value_as_string
    net = network(stack)
    described = model(stack, prefix=prefix)
    InferenceService(stack, "Serving", network=net, model=described, engine=TextGenerationEngine.tgi(), hosts=hosts())
    assert bucket
    assert '"Ref": "Prefix"' in json.dumps(Template.from_stack(stack).to_json())


def test_synthesis_is_the_same_every_time() -> None:
    def once() -> str:
        stack = new_stack(App())
        load_balancer(stack)
        return json.dumps(Template.from_stack(stack).to_json())

    assert once() == once()


def test_a_token_under_a_key_of_ones_own_can_be_read(stack: Stack) -> None:
    key = kms.Key(stack, "Key")
    token = secretsmanager.Secret(stack, "Token", encryption_key=key)
    service(
        stack,
        instance_type="inf2.8xlarge",
        engine=TextGenerationEngine.tgi(hub_token=token),
        of_model={"precompiled": False},
    )
    actions = [entry["Action"] for entry in policy(Template.from_stack(stack), "ExecutionRole")]
    assert "secretsmanager:GetSecretValue" in actions
    assert "kms:Decrypt" in actions


def imported(stack: Stack, name: str, *, mutable: bool) -> iam.IRole:
    return iam.Role.from_role_arn(stack, name, f"arn:aws:iam::111111111111:role/{name.lower()}", mutable=mutable)


@pytest.mark.parametrize("made", ["imported", "own"])
def test_roles_of_ones_own_are_taken(made: str, stack: Stack) -> None:
    principal = iam.ServicePrincipal("ecs-tasks.amazonaws.com")
    roles = {
        name: imported(stack, name, mutable=True) if made == "imported" else iam.Role(stack, name, assumed_by=principal)
        for name in ("Task", "Execution")
    }
    secret = secretsmanager.Secret.from_secret_complete_arn(
        stack, "Token", "arn:aws:secretsmanager:us-west-2:111111111111:secret:token-AbCdEf"
    )
    engine = TextGenerationEngine.tgi(hub_token=secret)
    settings = {"engine": engine, "of_model": {"precompiled": False}, "instance_type": "inf2.8xlarge"}
    service(stack, task_role=roles["Task"], execution_role=roles["Execution"], **settings)
    template = Template.from_stack(stack)
    task = only(template, "AWS::ECS::TaskDefinition")
    assert task["TaskRoleArn"] == stack.resolve(roles["Task"].role_arn)
    assert task["ExecutionRoleArn"] == stack.resolve(roles["Execution"].role_arn)
    assert template.find_resources("AWS::IAM::Policy") == {}  # nothing inline, whatever CDK would add
    policies = {name: each["Properties"] for name, each in template.find_resources("AWS::IAM::ManagedPolicy").items()}
    (policy,) = (each for name, each in policies.items() if "ExecutionRole" in name)
    assert policy["Roles"] == [stack.resolve(roles["Execution"].role_name)]
    assert "secretsmanager:GetSecretValue" in str(policy["PolicyDocument"])
    assert [each for each in policies.values() if stack.resolve(roles["Task"].role_name) in each["Roles"]] == []


def test_roles_that_must_not_change_are_left_and_their_owner_is_told(stack: Stack) -> None:
    roles = {f"{name.lower()}_role": imported(stack, name, mutable=False) for name in ("Task", "Execution")}
    service(stack, **roles)
    policies = Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy")
    (policy,) = (each["Properties"] for name, each in policies.items() if "ExecutionRole" in name)
    assert "Roles" not in policy
    (told,) = [text for text in warnings(stack) if "cannot be changed from here" in text]
    assert "(Stack/Execution): attach Stack/Serving/Task/ExecutionRole/Policy to it, or tasks do not start" in told
