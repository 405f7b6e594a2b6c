"""The cluster in the template: defaults one by one, everything set, imported, order of creation, size."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, Environment, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Match, Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.hyperpod import (
    DeepHealthCheck,
    EbsVolume,
    GroupRole,
    HyperPodCluster,
    InterfaceType,
    Lifecycle,
    NodeProvisioning,
    NodeRecovery,
    SlurmConfigStrategy,
)
from cdk_trainyard.instances import InstanceType, UsageClass
from cdk_trainyard.lifecycle import LifecycleScripts
from cdk_trainyard.storage import AccountingDatabase, LustreFileSystem, Mount, OpenZfs
from tests.hyperpod.parts import (
    ACCOUNT,
    REGION,
    SCRIPTS,
    cluster_properties,
    cluster_resource,
    controller,
    existing_lustre,
    group,
    new_stack,
    shared_group,
    worker,
)
from tests.parts import existing_network, subnet_id

Build = Callable[..., HyperPodCluster]
TEMPLATE_BYTES = 1_000_000
"""CloudFormation's limit of a template that is deployed from S3 (CloudFormation quotas)."""
ZFS = OpenZfs(dns_name="fs-0abcdef0.fsx.us-west-2.example")
PLAN = "arn:aws:sagemaker:us-west-2:111111111111:training-plan/plan-1"
OTHER_NETWORK = {"Subnets": ["subnet-0123456789abcdef0"], "SecurityGroupIds": ["sg-0123456789abcdef0"]}


def role_arn() -> dict[str, Any]:
    return {"Fn::GetAtt": ["ClusterExecutionRole5BDCF4AA", "Arn"]}


def controller_role_arn() -> dict[str, Any]:
    return {"Fn::GetAtt": ["ClusterControllerRoleC9751554", "Arn"]}


# ---------------------------------------------------------------- defaults
def test_the_smallest_cluster(stack: Stack, build: Build) -> None:
    cluster = build()
    resource = cluster_resource(stack)
    disk = [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]
    assert resource["Properties"] == {
        "ClusterName": "Stack-Cluster-F0EB02FA",
        "NodeRecovery": "Automatic",
        "Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Merge"}},
        "InstanceGroups": [
            {
                "InstanceGroupName": "controller-group",
                "InstanceType": "ml.m5.large",
                "InstanceCount": 1,
                "ExecutionRole": controller_role_arn(),
                "InstanceStorageConfigs": disk,
                "SlurmConfig": {"NodeType": "Controller"},
            },
            {
                "InstanceGroupName": "worker-group",
                "InstanceType": "ml.c5.4xlarge",
                "InstanceCount": 1,
                "ExecutionRole": role_arn(),
                "InstanceStorageConfigs": disk,
                "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["worker-group"]},
            },
        ],
    }
    assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("Delete", "Delete")
    assert [known.name for known in cluster.groups] == ["controller-group", "worker-group"]
    assert cluster.security_groups == ()
    assert cluster.connections.security_groups == []


def test_nodes_in_a_network_get_a_security_group_with_its_self_rules(stack: Stack, build: Build) -> None:
    cluster = build(network=existing_network(stack))
    (security_group,) = cluster.security_groups
    template = Template.from_stack(stack)
    (group_id,) = template.find_resources("AWS::EC2::SecurityGroup")
    assert cluster_properties(stack)["VpcConfig"] == {
        "SecurityGroupIds": [{"Fn::GetAtt": [group_id, "GroupId"]}],
        "Subnets": [subnet_id("Network")],
    }
    for rules in ("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress"):
        template.resource_count_is(rules, 1)
    assert security_group.node.path == "Stack/Cluster/SecurityGroup"


def test_the_default_name_follows_the_stacks_name() -> None:
    names = []
    for stack_name in ("llama2-training", "other-training"):
        stack = new_stack("TrainingStack", stack_name=stack_name)
        names.append(HyperPodCluster(stack, "Cluster", groups=[controller(), worker()]).cluster_name)
    assert names == ["llama2-training-Cluster-BD203615", "other-training-Cluster-32C74F98"]


def test_logical_ids_stay() -> None:
    stack = new_stack()
    HyperPodCluster(stack, "Cluster", groups=[controller(), worker()], network=existing_network(stack))
    assert {
        "ClusterEB0386A7": "AWS::SageMaker::Cluster",
        "ClusterControllerRoleC9751554": "AWS::IAM::Role",
        "ClusterExecutionRole5BDCF4AA": "AWS::IAM::Role",
        "ClusterExecutionRolePolicy62517732": "AWS::IAM::ManagedPolicy",
        "ClusterSecurityGroup3971C45F": "AWS::EC2::SecurityGroup",
    }.items() <= {
        logical_id: resource["Type"]
        for logical_id, resource in Template.from_stack(stack).to_json()["Resources"].items()
    }.items()


# ---------------------------------------------------------------- everything set
def test_every_property_of_a_group(stack: Stack, build: Build) -> None:
    network, far = existing_network(stack), existing_network(stack, "Far")
    key = kms.Key(stack, "Key")
    shared = shared_group(stack, network)
    own_group = shared_group(stack, network, "Own")
    scripts = LifecycleScripts(stack, "Scripts", bucket=s3.Bucket(stack, "Bucket"), folder=SCRIPTS)
    build(
        network=network,
        security_group=shared,
        provisioning=NodeProvisioning.CONTINUOUS,
        groups=[
            controller(lifecycle=Lifecycle(on_init_complete="extend.sh", scripts=scripts)),
            group("login-group", GroupRole.LOGIN, instance_type="m5.large", volumes=[], threads_per_core=2),
            worker(
                name="spot-group",
                instance_types=["ml.trn1.32xlarge", InstanceType.of("trn1n.32xlarge")],
                count=4,
                min_count=2,
                partition="trainium",
                lifecycle=Lifecycle(on_create="on_create.sh", scripts=scripts),
                volumes=[EbsVolume(root=True, key=key), EbsVolume(size_gb=200, key=key)],
                mounts=[Mount(file_system=existing_lustre(stack, shared)), Mount(file_system=ZFS, at="/home/teams")],
                threads_per_core=1,
                capacity=UsageClass.SPOT,
                interface_type=InterfaceType.EFA_ONLY,
                image_id="ami-0123456789abcdef0",
                raw_overrides={
                    "OverrideVpcConfig.Subnets": ["subnet-0123456789abcdef0"],
                    "OverrideVpcConfig.SecurityGroupIds": ["sg-0123456789abcdef0"],
                },
            ),
            worker(
                name="plan-group",
                instance_type="ml.p5.48xlarge",
                count=0,
                training_plan_arn=PLAN,
                deep_health_checks=[DeepHealthCheck.INSTANCE_STRESS, DeepHealthCheck.INSTANCE_CONNECTIVITY],
                network=far,
                security_groups=[own_group],
            ),
            worker(name="cpu-group", capacity=UsageClass.ON_DEMAND, security_groups=[own_group]),
        ],
    )
    properties = cluster_properties(stack)
    head, login, spot, plan, cpu = properties["InstanceGroups"]
    template = Template.from_stack(stack)
    (key_id,) = template.find_resources("AWS::KMS::Key")
    (bucket_id,) = template.find_resources("AWS::S3::Bucket")
    source = {"Fn::Join": ["", ["s3://", {"Ref": bucket_id}, f"/{scripts.prefix}/"]]}
    key_arn = {"Fn::GetAtt": [key_id, "Arn"]}
    own_id = stack.resolve(own_group.security_group_id)

    assert properties["NodeProvisioningMode"] == "Continuous"
    assert properties["Orchestrator"] == {"Slurm": {}}
    assert head["LifeCycleConfig"] == {"SourceS3Uri": source, "OnInitComplete": "extend.sh"}
    assert login == {
        "InstanceGroupName": "login-group",
        "InstanceType": "ml.m5.large",
        "InstanceCount": 1,
        "ExecutionRole": role_arn(),
        "ThreadsPerCore": 2,
        "SlurmConfig": {"NodeType": "Login"},
    }
    assert spot == {
        "InstanceGroupName": "spot-group",
        "InstanceRequirements": {"InstanceTypes": ["ml.trn1.32xlarge", "ml.trn1n.32xlarge"]},
        "InstanceCount": 4,
        "MinInstanceCount": 2,
        "ExecutionRole": role_arn(),
        "LifeCycleConfig": {"SourceS3Uri": source, "OnCreate": "on_create.sh"},
        "ThreadsPerCore": 1,
        "InstanceStorageConfigs": [
            {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": key_arn}},
            {"EbsVolumeConfig": {"VolumeSizeInGB": 200, "VolumeKmsKeyId": key_arn}},
            {
                "FsxLustreConfig": {
                    "DnsName": "fs-01234567.fsx.us-west-2.example",
                    "MountName": "abcdefgh",
                    "MountPath": "/fsx",
                }
            },
            {"FsxOpenZfsConfig": {"DnsName": "fs-0abcdef0.fsx.us-west-2.example", "MountPath": "/home/teams"}},
        ],
        "CapacityRequirements": {"Spot": {}},
        "NetworkInterface": {"InterfaceType": "efa-only"},
        "ImageId": "ami-0123456789abcdef0",
        "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["trainium"]},
        "OverrideVpcConfig": {"Subnets": ["subnet-0123456789abcdef0"], "SecurityGroupIds": ["sg-0123456789abcdef0"]},
    }
    assert plan["TrainingPlanArn"] == PLAN
    assert "CapacityRequirements" not in plan
    assert plan["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
    assert plan["OverrideVpcConfig"] == {"Subnets": [subnet_id("Far")], "SecurityGroupIds": [own_id]}
    assert cpu["CapacityRequirements"] == {"OnDemand": {}}
    assert cpu["OverrideVpcConfig"] == {"Subnets": [subnet_id("Network")], "SecurityGroupIds": [own_id]}


def test_every_property_of_a_cluster(stack: Stack, build: Build) -> None:
    network = existing_network(stack)
    cluster = build(
        network=network,
        security_group=shared_group(stack, network),
        extra_security_groups=[shared_group(stack, network, "Extra")],
        cluster_name="train",
        slurm_config_strategy=SlurmConfigStrategy.MANAGED,
        node_recovery=NodeRecovery.NONE,
        removal_policy=RemovalPolicy.RETAIN,
        raw_overrides={"TieredStorageConfig": {"Mode": "Disable"}},
    )
    resource = cluster_resource(stack)
    assert resource["DeletionPolicy"] == "Retain"
    properties = resource["Properties"]
    assert properties["ClusterName"] == cluster.cluster_name == "train"
    assert properties["NodeRecovery"] == "None"
    assert properties["Orchestrator"] == {"Slurm": {"SlurmConfigStrategy": "Managed"}}
    assert properties["TieredStorageConfig"] == {"Mode": "Disable"}
    assert len(properties["VpcConfig"]["SecurityGroupIds"]) == 2
    assert len(cluster.connections.security_groups) == 2


def test_accounting(stack: Stack, build: Build) -> None:
    network = existing_network(stack)
    database = AccountingDatabase.from_attributes(
        stack,
        "Database",
        endpoint="db.example",
        secret=secretsmanager.Secret.from_secret_complete_arn(stack, "Secret", SECRET),
        security_group=ec2.SecurityGroup.from_security_group_id(stack, "DatabaseGroup", "sg-database"),
        port=3307,
    )
    build(network=network, accounting=database, provisioning=NodeProvisioning.CONTINUOUS)
    assert cluster_properties(stack)["Orchestrator"] == {
        "Slurm": {
            "AccountingDatabase": {
                "Endpoint": "db.example",
                "Port": 3307,
                "SecretArn": SECRET,
                "Name": "slurm_acct_db_Stack_Cluster_F0EB02FA",
            }
        }
    }
    Template.from_stack(stack).has_resource_properties(
        "AWS::EC2::SecurityGroupIngress", {"GroupId": "sg-database", "FromPort": 3307, "ToPort": 3307}
    )


SECRET = "arn:aws:secretsmanager:us-west-2:111111111111:secret:slurm-AbCdEf"  # noqa: S105  a name


# ---------------------------------------------------------------- scripts of the cluster's own
def test_the_projects_scripts_are_uploaded_with_the_clusters_settings(stack: Stack, build: Build) -> None:
    network = existing_network(stack)
    shared = shared_group(stack, network)
    build(
        cluster_name="train",
        network=network,
        security_group=shared,
        mounts=[Mount(file_system=existing_lustre(stack, shared), at="/shared")],
        lifecycle=Lifecycle(on_init_complete="on_init_complete.sh"),
        scripts_bucket=s3.Bucket(stack, "Bucket"),
    )
    head, workers = cluster_properties(stack)["InstanceGroups"]
    assert head["LifeCycleConfig"] == workers["LifeCycleConfig"]
    assert head["LifeCycleConfig"]["OnInitComplete"] == "on_init_complete.sh"
    assert "/lifecycle-scripts/" in head["LifeCycleConfig"]["SourceS3Uri"]["Fn::Join"][1][-1]


def test_one_bundle_serves_both_modes(stack: Stack, build: Build) -> None:
    build(
        lifecycle=Lifecycle(on_init_complete="on_init_complete.sh"),
        scripts_bucket=s3.Bucket(stack, "Bucket"),
        groups=[
            controller(),
            worker(lifecycle=Lifecycle(on_create="on_create.sh")),
            worker(name="bare", lifecycle=Lifecycle()),
        ],
    )
    head, workers, bare = cluster_properties(stack)["InstanceGroups"]
    assert head["LifeCycleConfig"]["OnInitComplete"] == "on_init_complete.sh"
    assert workers["LifeCycleConfig"]["OnCreate"] == "on_create.sh"
    assert head["LifeCycleConfig"]["SourceS3Uri"] == workers["LifeCycleConfig"]["SourceS3Uri"]
    assert "LifeCycleConfig" not in bare


def test_fails_with_a_file_that_the_projects_scripts_do_not_hold(stack: Stack, build: Build) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        build(
            lifecycle=Lifecycle(on_create="on_create.sh"),
            scripts_bucket=s3.Bucket(stack, "Bucket"),
            groups=[controller(), worker(lifecycle=Lifecycle(on_create="on_creat.sh"))],
        )
    assert refusal.value.problems == (
        (
            "'groups.worker-group.lifecycle.on_create' must be a file at the top of the folder, got 'on_creat.sh'; did "
            "you mean 'on_create.sh'?"
        ),
    )


def test_fails_to_mount_what_the_uploaded_scripts_do_not_know(stack: Stack, build: Build) -> None:
    cluster = build(
        network=existing_network(stack),
        lifecycle=Lifecycle(on_create="on_create.sh"),
        scripts_bucket=s3.Bucket(stack, "Bucket"),
    )
    with pytest.raises(ConfigurationError) as refusal:
        cluster.mount(ZFS)
    assert refusal.value.problems == (
        "'mount' must be the keyword 'mounts' here; the uploaded scripts were written without it",
    )


# ---------------------------------------------------------------- mounts
def test_mount_adds_to_every_group_without_mounts_of_its_own(stack: Stack, build: Build) -> None:
    network = existing_network(stack)
    shared = shared_group(stack, network)
    cluster = build(
        network=network,
        security_group=shared,
        groups=[
            controller(),
            worker(raw_overrides={"OverrideVpcConfig": OTHER_NETWORK}),
            worker(name="bare", mounts=[], image_id="default"),
        ],
    )
    cluster.mount(existing_lustre(stack, shared))
    cluster.mount(ZFS, at="/home/all")
    head, workers, bare = cluster_properties(stack)["InstanceGroups"]
    paths = [next(iter(entry.values())).get("MountPath") for entry in head["InstanceStorageConfigs"]]
    assert paths == [None, "/fsx", "/home/all"]
    assert workers["InstanceStorageConfigs"] == head["InstanceStorageConfigs"]
    assert workers["OverrideVpcConfig"] == OTHER_NETWORK
    assert len(bare["InstanceStorageConfigs"]) == 1
    assert "ImageId" not in bare


def test_fails_to_mount_a_second_file_system_of_a_kind(stack: Stack, build: Build) -> None:
    cluster = build(network=existing_network(stack), mounts=[Mount(file_system=ZFS)])
    with pytest.raises(ConfigurationError, match="must be the one OpenZFS file system, got a second"):
        cluster.mount(ZFS, at="/other")


@pytest.mark.parametrize(
    ("efa", "ports"), [(False, {("tcp", 988, 988), ("tcp", 1018, 1023)}), (True, {("-1", None, None)})]
)
def test_a_file_system_of_another_security_group_is_opened(
    stack: Stack, build: Build, *, efa: bool, ports: set[tuple[Any, ...]]
) -> None:
    network = existing_network(stack)
    far = existing_lustre(stack, shared_group(stack, network, "Servers"), efa_enabled=efa)
    build(network=network, security_group=shared_group(stack, network), mounts=[Mount(file_system=far)])
    template = Template.from_stack(stack)
    for kind, peer in (("Ingress", "SourceSecurityGroupId"), ("Egress", "DestinationSecurityGroupId")):
        rules = [
            rule["Properties"]
            for rule in template.find_resources(f"AWS::EC2::SecurityGroup{kind}").values()
            if rule["Properties"]["GroupId"] != rule["Properties"][peer]
        ]
        assert {(rule["IpProtocol"], rule.get("FromPort"), rule.get("ToPort")) for rule in rules} == ports
        assert len({json.dumps(rule["GroupId"]) for rule in rules}) == 2
    waited = set(cluster_resource(stack)["DependsOn"])
    opened = list(template.find_resources("AWS::EC2::SecurityGroupIngress"))
    assert set(opened) <= waited


def test_what_lets_the_nodes_in_already_is_not_opened_again(stack: Stack, build: Build) -> None:
    network = existing_network(stack)
    servers = shared_group(stack, network, "Servers")
    database = AccountingDatabase.from_attributes(
        stack,
        "Database",
        endpoint="db.example",
        secret=secretsmanager.Secret.from_secret_name_v2(stack, "Secret", "slurm"),
        security_group=servers.security_group,
        rules_exist=True,
    )
    build(
        network=network,
        security_group=shared_group(stack, network),
        mounts=[Mount(file_system=existing_lustre(stack, servers, rules_exist=True))],
        accounting=database,
        provisioning=NodeProvisioning.CONTINUOUS,
    )
    rules = Template.from_stack(stack).find_resources("AWS::EC2::SecurityGroupIngress").values()
    between = [one for one in rules if one["Properties"]["GroupId"] != one["Properties"]["SourceSecurityGroupId"]]
    assert between == []


# ---------------------------------------------------------------- order of creation
def test_nodes_start_after_everything_they_need(stack: Stack, build: Build) -> None:
    route = ec2.CfnRoute(stack, "Route", route_table_id="rtb-1", destination_cidr_block="0.0.0.0/0", nat_gateway_id="n")
    network = existing_network(stack, route_out=route)
    shared = shared_group(stack, network)
    file_system = LustreFileSystem(stack, "Lustre", network=network, security_group=shared)
    scripts = LifecycleScripts(stack, "Scripts", bucket=s3.Bucket(stack, "Bucket"), folder=SCRIPTS)
    build(
        network=network,
        security_group=shared,
        mounts=[Mount(file_system=file_system)],
        lifecycle=Lifecycle(on_create="on_create.sh", scripts=scripts),
    )
    template = Template.from_stack(stack)
    waited = {template.to_json()["Resources"][name]["Type"] for name in cluster_resource(stack)["DependsOn"]}
    assert {
        "AWS::EC2::Route",
        "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::SecurityGroupIngress",
        "AWS::FSx::FileSystem",
        "AWS::IAM::ManagedPolicy",
    } <= waited
    assert any("CDKBucketDeployment" in kind or kind.startswith("Custom::") for kind in waited)


# ---------------------------------------------------------------- attributes
def test_attributes_are_made_of_the_arn(stack: Stack, build: Build) -> None:
    cluster = build(cluster_name="train")
    arn = {"Fn::GetAtt": ["ClusterEB0386A7", "ClusterArn"]}
    cluster_id = {"Fn::Select": [1, {"Fn::Split": ["/", arn]}]}
    assert stack.resolve(cluster.cluster_arn) == arn
    assert stack.resolve(cluster.cluster_id) == cluster_id
    assert stack.resolve(cluster.log_group_name) == {"Fn::Join": ["", ["/aws/sagemaker/Clusters/train/", cluster_id]]}
    assert stack.resolve(cluster.connect_command("worker-group", instance_id="i-1")) == {
        "Fn::Join": ["", ["aws ssm start-session --target sagemaker-cluster:", cluster_id, "_worker-group-i-1"]]
    }


def test_fails_to_connect_to_a_group_that_is_not_there(build: Build) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        build().connect_command("worker")
    assert refusal.value.problems == (
        "'group' must be controller-group or worker-group, got 'worker'; did you mean 'worker-group'?",
    )


def test_other_things_connect_to_the_nodes(stack: Stack, build: Build) -> None:
    cluster = build(network=existing_network(stack))
    cluster.connections.allow_from(ec2.Peer.ipv4("10.9.0.0/16"), ec2.Port.tcp(22))
    Template.from_stack(stack).has_resource_properties(
        "AWS::EC2::SecurityGroup",
        {"SecurityGroupIngress": [Match.object_like({"CidrIp": "10.9.0.0/16", "FromPort": 22})]},
    )


def test_an_imported_cluster(stack: Stack) -> None:
    security_group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-1")
    cluster = HyperPodCluster.from_attributes(
        stack,
        "Cluster",
        cluster_arn="arn:aws:sagemaker:us-west-2:111111111111:cluster/abcdefghijkl",
        cluster_name="train",
        security_groups=[security_group],
    )
    assert cluster.cluster_id == "abcdefghijkl"
    assert cluster.log_group_name == "/aws/sagemaker/Clusters/train/abcdefghijkl"
    assert cluster.connect_command("workers") == (
        "aws ssm start-session --target sagemaker-cluster:abcdefghijkl_workers-<instance-id>"
    )
    assert len(cluster.connections.security_groups) == 1


# ---------------------------------------------------------------- stacks and size
def test_parts_of_other_stacks_are_used_without_a_circle() -> None:
    app, env = App(), Environment(account=ACCOUNT, region=REGION)
    below, above = Stack(app, "Below", env=env), Stack(app, "Above", env=env)
    network = existing_network(below)
    servers = shared_group(below, network, "Servers")
    file_system = LustreFileSystem(below, "Lustre", network=network, security_group=servers)
    HyperPodCluster(
        above,
        "Cluster",
        groups=[controller(), worker()],
        network=network,
        security_group=shared_group(below, network),
        mounts=[Mount(file_system=file_system)],
    )
    app.synth()
    assert [stack.node.id for stack in above.dependencies] == ["Below"]
    Template.from_stack(below).resource_count_is("AWS::SageMaker::Cluster", 0)


def test_groups_keep_their_order(stack: Stack, build: Build) -> None:
    names = [f"worker-{number}" for number in (3, 1, 2)]
    build(groups=[*(worker(name=name) for name in names), controller()])
    found = [entry["InstanceGroupName"] for entry in cluster_properties(stack)["InstanceGroups"]]
    assert found == [*names, "controller-group"]


def test_the_largest_cluster_fits_into_a_template(stack: Stack, build: Build) -> None:
    network = existing_network(stack)
    shared = shared_group(stack, network)
    scripts = LifecycleScripts(stack, "Scripts", bucket=s3.Bucket(stack, "Bucket"), folder=SCRIPTS)
    volumes = [EbsVolume(root=True, key=kms.Key(stack, "Key")), EbsVolume(size_gb=500)]
    types = ["ml.p4d.24xlarge", "ml.p5.48xlarge", "ml.p5e.48xlarge", "ml.p5en.48xlarge"]
    groups = [
        worker(
            name=f"worker-{number:03}-{'w' * 50}", instance_types=types, count=4, volumes=volumes, threads_per_core=1
        )
        for number in range(99)
    ]
    build(
        groups=[controller(), *groups],
        network=network,
        security_group=shared,
        mounts=[Mount(file_system=existing_lustre(stack, shared)), Mount(file_system=ZFS)],
        lifecycle=Lifecycle(on_create="on_create.sh", scripts=scripts),
        provisioning=NodeProvisioning.CONTINUOUS,
    )
    size = len(json.dumps(Template.from_stack(stack).to_json(), indent=1))
    assert size < TEMPLATE_BYTES / 2
