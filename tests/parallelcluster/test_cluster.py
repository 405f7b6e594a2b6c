"""The cluster: its custom resource, what it waits for, what it may, and what it tells."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, Duration, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Annotations, Match, Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.network import EfaSecurityGroup, Endpoint, Nat, TrainingNetwork
from cdk_trainyard.parallelcluster import (
    ComputeResource,
    CustomAction,
    LoginPool,
    ParallelCluster,
    ParallelClusterMonitoring,
    ParallelClusterProvider,
    Placement,
    QueueUpdateStrategy,
    SharedEbs,
    SharedEfs,
    SharedStorage,
    SlurmSettings,
    Timeouts,
)
from cdk_trainyard.storage import LustreFileSystem, Mount, TrainingBuckets
from tests.parallelcluster.parts import (
    TYPE,
    config,
    cpu,
    head,
    new_network,
    new_stack,
    queue,
    resource,
    trn1,
)


# ---------------------------------------------------------------- defaults, one by one
@pytest.fixture(scope="module")
def minimal() -> tuple[ParallelCluster, Template]:
    """The smallest call: a network, a head node, a queue."""
    stack = new_stack()
    cluster = ParallelCluster(
        stack, "Cluster", network=new_network(stack), head_node=head(public=False), queues=[queue()]
    )
    return cluster, Template.from_stack(stack)


def test_the_smallest_configuration(minimal: tuple[ParallelCluster, Template]) -> None:
    written = config(minimal[1])
    group = written["HeadNode"]["Networking"]["AdditionalSecurityGroups"]
    assert group == [{"Fn::GetAtt": ["ClusterSecurityGroup3971C45F", "GroupId"]}]
    private = written["HeadNode"]["Networking"]["SubnetId"]
    policies = {"AdditionalIamPolicies": [{"Policy": {"Ref": "ClusterNodePolicy87963466"}}]}
    assert written == {
        "Region": "us-east-1",
        "Image": {"Os": "alinux2023"},
        "HeadNode": {
            "InstanceType": "c5.xlarge",
            "Networking": {"SubnetId": private, "AdditionalSecurityGroups": group},
            "Ssh": {"AllowedIps": "127.0.0.1/32"},
            "Iam": policies,
        },
        "Scheduling": {
            "Scheduler": "slurm",
            "SlurmSettings": {"QueueUpdateStrategy": "DRAIN"},
            "SlurmQueues": [
                {
                    "Name": "compute",
                    "CapacityType": "ONDEMAND",
                    "Networking": {"SubnetIds": [private], "AdditionalSecurityGroups": group},
                    "Iam": policies,
                    "ComputeResources": [
                        {"Name": "c5-xlarge", "InstanceType": "c5.xlarge", "MinCount": 0, "MaxCount": 8}
                    ],
                }
            ],
        },
        "Monitoring": {
            "Logs": {"CloudWatch": {"Enabled": True, "RetentionInDays": 180, "DeletionPolicy": "Retain"}},
            "Dashboards": {"CloudWatch": {"Enabled": True}},
            "Alarms": {"Enabled": True},
        },
        "Imds": {"ImdsSupport": "v2.0"},
    }


def test_nothing_stands_beside_what_the_provider_takes(minimal: tuple[ParallelCluster, Template]) -> None:
    properties = resource(minimal[1])["Properties"]
    # RollbackOnFailure and ForceUpdate each break the other operation; ServiceTimeout would be an unknown argument
    assert set(properties) == {"ServiceToken", "ClusterName", "ClusterConfiguration", "DeletionPolicy"}
    assert properties["DeletionPolicy"] == "Delete"


def test_the_provider_is_aws_own_template_of_the_version(minimal: tuple[ParallelCluster, Template]) -> None:
    ((logical_id, provider),) = minimal[1].find_resources("AWS::CloudFormation::Stack").items()
    assert provider["Properties"] == {
        "TemplateURL": {
            "Fn::Sub": "https://${AWS::Region}-aws-parallelcluster.s3.${AWS::Region}.${AWS::URLSuffix}"
            "/parallelcluster/3.16.1/templates/custom_resource/cluster.yaml"
        }
    }
    assert resource(minimal[1])["Properties"]["ServiceToken"] == {"Fn::GetAtt": [logical_id, "Outputs.ServiceToken"]}


def test_the_cluster_waits_for_routes_endpoints_and_rules(minimal: tuple[ParallelCluster, Template]) -> None:
    waits = " ".join(resource(minimal[1])["DependsOn"])
    for part in ("AcceleratorDefaultRoute", "EndpointsS3", "SecurityGroupfrom", "SecurityGroupto"):
        assert part in waits


def test_the_group_lets_the_nodes_reach_each_other(minimal: tuple[ParallelCluster, Template]) -> None:
    minimal[1].has_resource_properties("AWS::EC2::SecurityGroupIngress", {"IpProtocol": "-1"})
    minimal[1].has_resource_properties("AWS::EC2::SecurityGroupEgress", {"IpProtocol": "-1"})


def test_the_policy_of_the_nodes_is_where_the_provider_may_attach_it(minimal: tuple[ParallelCluster, Template]) -> None:
    minimal[1].has_resource_properties("AWS::IAM::ManagedPolicy", {"Path": "/parallelcluster/"})


def test_what_it_tells(minimal: tuple[ParallelCluster, Template]) -> None:
    cluster, _ = minimal
    name = cluster.cluster_name
    assert name == "Stack-Cluster-F0EB02FA"
    resolved = Stack.of(cluster).resolve(dict(cluster.outputs))
    assert set(resolved) == {
        "ClusterName", "ConnectCommand", "HeadNodeAddress", "LogGroupPrefix", "ProviderLogGroup", "ValidationMessages",
    }  # fmt: skip
    assert resolved["LogGroupPrefix"] == f"/aws/parallelcluster/{name}-"
    assert resolved["ProviderLogGroup"]["Fn::Select"][0] == 6
    instance = {"Fn::GetAtt": ["ClusterEB0386A7", "headNode.instanceId"]}
    assert resolved["ConnectCommand"] == {
        "Fn::Join": ["", ["aws ssm start-session --target ", instance, " --region us-east-1"]]
    }
    # an attribute that a private head node does not have would fail the deployment
    assert cluster.head_node_public_ip is None


# ---------------------------------------------------------------- right by construction
def test_without_nat_there_are_endpoints_and_no_hosted_zone(
    stack: Stack, build: Callable[..., ParallelCluster]
) -> None:
    build(network=new_network(stack, nat=Nat.NONE), head_node=head(public=False))
    template = Template.from_stack(stack)
    assert config(template)["Scheduling"]["SlurmSettings"]["Dns"] == {
        "DisableManagedDns": True,
        "UseEc2Hostnames": True,
    }
    services = json.dumps([one["Properties"] for one in template.find_resources("AWS::EC2::VPCEndpoint").values()])
    assert ".dynamodb" in services
    assert ".s3" in services
    assert '"dynamodb:BatchGetItem"' in services  # asked by check_cluster_ready.py when nodes run during an update
    assert any("DynamoDbEndpoint" in one for one in resource(template)["DependsOn"])
    Annotations.from_stack(stack).has_warning(
        "*",
        Match.string_like_regexp(
            r"queues compute have no route to the internet: nodes need interface endpoints of EC2, CloudFormation, "
            r"CloudWatch Logs, Systems Manager \(ssm\), Session Manager \(ssmmessages\), and install nothing"
        ),
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            [Endpoint.SSM, Endpoint.SSM_MESSAGES],
            "nodes need interface endpoints of EC2, CloudFormation, CloudWatch Logs, and",
        ),
        (list(Endpoint), "nodes install nothing from the internet"),
    ],
)
def test_without_nat_the_endpoints_that_are_missing_are_named(
    stack: Stack, build: Callable[..., ParallelCluster], given: list[Endpoint], said: str
) -> None:
    build(network=new_network(stack, nat=Nat.NONE, interface_endpoints=given), head_node=head(public=False))
    Annotations.from_stack(stack).has_warning("*", Match.string_like_regexp(f"no route to the internet: {said}"))


def test_an_endpoint_that_is_there_is_not_made_again(stack: Stack, build: Callable[..., ParallelCluster]) -> None:
    build(
        network=new_network(stack, nat=Nat.NONE, interface_endpoints=[Endpoint.DYNAMODB]), head_node=head(public=False)
    )
    names = Template.from_stack(stack).find_resources("AWS::EC2::VPCEndpoint")
    assert not [name for name in names if name.startswith("Cluster")]


def test_an_existing_network_gets_no_endpoint(stack: Stack, build: Callable[..., ParallelCluster]) -> None:
    subnet = ec2.Subnet.from_subnet_attributes(stack, "Subnet", subnet_id="subnet-" + "a" * 17)
    network = TrainingNetwork.from_existing(
        stack,
        "Existing",
        vpc=ec2.Vpc.from_vpc_attributes(
            stack, "Vpc", vpc_id="vpc-1", availability_zones=["us-east-1a"], isolated_subnet_ids=[subnet.subnet_id]
        ),
        accelerator_subnet=subnet,
        zone="us-east-1a",
    )
    build(network=network, head_node=head(public=False))
    Template.from_stack(stack).resource_count_is("AWS::EC2::VPCEndpoint", 0)


# ---------------------------------------------------------------- everything said
def test_a_shared_provider_serves_several_clusters(stack: Stack) -> None:
    network, provider = new_network(stack), ParallelClusterProvider(stack, "Provider")
    for name in ("Blue", "Green"):
        ParallelCluster(stack, name, network=network, head_node=head(), queues=[queue()], provider=provider)
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::CloudFormation::Stack", 1)
    template.resource_count_is(TYPE, 2)


def test_the_logical_id_of_the_cluster_is_the_same_for_every_version() -> None:
    def made(version: str) -> tuple[str, str]:
        stack = new_stack()
        ParallelCluster(
            stack, "Cluster", network=new_network(stack), head_node=head(), queues=[queue()], version=version
        )
        template = Template.from_stack(stack)
        (cluster,), (provider,) = template.find_resources(TYPE), template.find_resources("AWS::CloudFormation::Stack")
        return cluster, provider

    (cluster, provider), (other_cluster, other_provider) = made("3.16.1"), made("3.17.0")
    # so that a version bump changes the service token of the same resource, which CloudFormation refuses
    assert cluster == other_cluster == "ClusterEB0386A7"
    assert provider != other_provider


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (RemovalPolicy.RETAIN, ("Retain", "Retain")),
        # asked to delete only when a first creation has failed, the provider does
        (RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE, ("RetainExceptOnCreate", "Delete")),
    ],
)
def test_a_cluster_that_is_kept_is_kept_by_both(
    stack: Stack, build: Callable[..., ParallelCluster], policy: RemovalPolicy, said: tuple[str, str]
) -> None:
    build(removal_policy=policy)
    template = Template.from_stack(stack)
    kept = resource(template)
    assert (kept["DeletionPolicy"], kept["Properties"]["DeletionPolicy"]) == said
    # IAM deletes no policy that a node's role has, EC2 no group that a node's interface has
    policies = template.find_resources("AWS::IAM::ManagedPolicy")
    beside = [one for name, one in policies.items() if name.startswith("ClusterNodePolicy")]
    for kind in ("SecurityGroup", "SecurityGroupEgress", "SecurityGroupIngress"):
        beside += template.find_resources(f"AWS::EC2::{kind}").values()
    assert len(beside) == 4
    assert {one.get("DeletionPolicy") for one in beside} == {said[0]}
    assert not [name for name, one in policies.items() if "Provider" in name and "DeletionPolicy" in one]


def test_what_a_cluster_stands_on_goes_with_it(stack: Stack, build: Callable[..., ParallelCluster]) -> None:
    build()
    resources = Template.from_stack(stack).to_json()["Resources"].values()
    of_types = [one for one in resources if one["Type"].startswith(("AWS::EC2::SecurityGroup", "AWS::IAM::ManagedPo"))]
    assert of_types
    assert not [one for one in of_types if "DeletionPolicy" in one]


def test_checks_can_be_left_out(stack: Stack, build: Callable[..., ParallelCluster]) -> None:
    build(suppress_validators=["type:HeadNodeMemorySizeValidator"])
    assert resource(Template.from_stack(stack))["Properties"]["SuppressValidators"] == [
        "type:HeadNodeMemorySizeValidator"
    ]


def test_raw_keys_are_laid_over_what_keywords_say(build: Callable[..., ParallelCluster]) -> None:
    written = build(
        queues=[
            queue(cpu(raw_overrides={"LaunchTemplateOverrides": {"LaunchTemplateId": "lt-12345678", "Version": 1}}))
        ],
        raw_overrides={"Monitoring": {"Logs": {"Rotation": {"Enabled": False}}}},
    ).config
    assert written["Monitoring"]["Logs"]["Rotation"] == {"Enabled": False}
    assert written["Monitoring"]["Logs"]["CloudWatch"]["Enabled"] is True
    assert written["Scheduling"]["SlurmQueues"][0]["ComputeResources"][0]["LaunchTemplateOverrides"]["Version"] == 1


def test_grants_land_in_the_policy_of_the_nodes(stack: Stack, build: Callable[..., ParallelCluster]) -> None:
    cluster = build()
    s3.Bucket(stack, "Data").grant_read(cluster)
    reading = Match.object_like({"Action": Match.array_with(["s3:List*"])})
    Template.from_stack(stack).has_resource_properties(
        "AWS::IAM::ManagedPolicy",
        {
            "Path": "/parallelcluster/",
            "PolicyDocument": {"Statement": Match.array_with([reading])},
        },
    )


@pytest.mark.parametrize(
    ("version", "pools", "granted"),
    [("3.15.1", 1, True), ("3.11.0", 1, True), ("3.16.0", 1, False), (None, 1, False), ("3.15.1", 0, False)],
)
def test_providers_of_older_versions_may_make_listeners_of_login_nodes_with_further_tags(
    stack: Stack, build: Callable[..., ParallelCluster], version: str | None, pools: int, granted: bool
) -> None:
    login_pools = [LoginPool(name="login", instance_type="c5.xlarge")] * pools
    build(login_pools=login_pools, **({"version": version} if version else {}))
    template = Template.from_stack(stack)
    tagged = Match.object_like(
        {
            "Action": ["elasticloadbalancing:CreateListener", "elasticloadbalancing:CreateTargetGroup"],
            "Condition": {"Null": {"aws:RequestTag/parallelcluster:cluster-name": "false"}},
            "Effect": "Allow",
        }
    )
    having = {"PolicyDocument": {"Statement": Match.array_with([tagged])}}
    template.resource_properties_count_is("AWS::IAM::ManagedPolicy", having, int(granted))
    if granted:
        given = {"Parameters": {"AdditionalIamPolicies": {"Ref": Match.string_like_regexp("ProviderPolicy")}}}
        template.has_resource_properties("AWS::CloudFormation::Stack", given)


def test_jobs_on_every_node_use_the_buckets_and_delete_nothing(
    stack: Stack, build: Callable[..., ParallelCluster]
) -> None:
    buckets = TrainingBuckets(stack, "Buckets")
    cluster = build(login_pools=[LoginPool(name="login", instance_type="c5.xlarge")])
    cluster.use(buckets)
    template = Template.from_stack(stack)
    (name,) = template.find_resources("AWS::IAM::ManagedPolicy", {"Properties": {"Path": "/parallelcluster/"}})
    policy = template.find_resources("AWS::IAM::ManagedPolicy")[name]["Properties"]["PolicyDocument"]["Statement"]
    granted: dict[str, set[str]] = {"Datasets": set(), "Checkpoints": set(), "Models": set(), "Key": set()}
    for statement in policy:
        actions = [statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"]
        for purpose in granted:
            if f"Buckets{purpose}" in str(statement["Resource"]):
                granted[purpose] |= {*actions}
    reading = {"s3:GetObject", "s3:ListBucket"}
    writing = {"s3:AbortMultipartUpload", "s3:ListMultipartUploadParts", "s3:PutObject", "s3:PutObjectTagging"}
    assert granted == {
        "Datasets": reading,
        "Checkpoints": reading | writing,
        "Models": reading | writing,
        "Key": {"kms:Decrypt", "kms:GenerateDataKey"},
    }
    written = config(template)
    roles = [written["HeadNode"], written["LoginNodes"]["Pools"][0], written["Scheduling"]["SlurmQueues"][0]]
    assert [{"Policy": {"Ref": name}} in role["Iam"]["AdditionalIamPolicies"] for role in roles] == [True] * 3


def allowed_on_keys(template: Template, description: str) -> dict[str, tuple[list[str], bool, list[str]]]:
    """Action of KMS → the ids of the keys, whether for resources of AWS alone, and the services through which."""
    (policy,) = (
        one["Properties"]
        for one in template.find_resources("AWS::IAM::ManagedPolicy").values()
        if description in one["Properties"]["Description"]
    )
    found = {}
    for statement in policy["PolicyDocument"]["Statement"]:
        conditions = statement.get("Condition", {})
        via = json.dumps(conditions.get("StringEquals", {}))
        services = [name for name in ("ec2", "elasticfilesystem") if f"{name}." in via]
        for action in {statement["Action"]} if isinstance(statement["Action"], str) else statement["Action"]:
            if action.startswith("kms:"):
                keys = sorted(set(re.findall(r"key/(\w+)", json.dumps(statement["Resource"]))))
                found[action] = (keys, "Bool" in conditions, services)
    return found


def test_who_makes_and_attaches_volumes_may_use_their_keys_through_the_services_that_do_it(
    stack: Stack, build: Callable[..., ParallelCluster]
) -> None:
    """EC2 asks the head node for a grant, which attaches the volumes itself; a snapshot is encrypted again."""
    new, existing, efs = (
        kms.Key.from_key_arn(stack, name, f"arn:aws:kms:us-east-1:111111111111:key/{name}")
        for name in ("new", "existing", "efs")
    )
    volumes = [
        SharedEbs(at="/a", key=new, snapshot_id="snap-12345678"),
        SharedEbs(at="/c", key=existing, volume_id="vol-12345678"),
    ]
    build(shared_storage=SharedStorage(ebs=volumes, efs=[SharedEfs(at="/b", key=efs)]))
    template = Template.from_stack(stack)
    attached, made, ec2, both = ["existing", "new"], ["efs", "new"], ["ec2"], ["ec2", "elasticfilesystem"]
    assert allowed_on_keys(template, "nodes of a ParallelCluster") == {
        "kms:CreateGrant": (attached, True, ec2),
        "kms:Decrypt": (attached, False, ec2),
        "kms:DescribeKey": (attached, False, []),
        "kms:ReEncryptFrom": (attached, False, ec2),
        "kms:ReEncryptTo": (attached, False, ec2),
    }
    assert allowed_on_keys(template, "provider of a ParallelCluster") == {
        "kms:CreateGrant": (made, True, both),
        "kms:Decrypt": (made, False, both),
        "kms:DescribeKey": (made, False, []),
        "kms:GenerateDataKeyWithoutPlaintext": (made, False, both),
        "kms:ReEncryptFrom": (made, False, both),
        "kms:ReEncryptTo": (made, False, both),
    }
    ebs = [one["EbsSettings"] for one in config(template)["SharedStorage"] if "EbsSettings" in one]
    assert ebs[1] == {"VolumeId": "vol-12345678"}


def test_a_file_system_can_be_mounted_later(stack: Stack, build: Callable[..., ParallelCluster]) -> None:
    network = new_network(stack)
    cluster = build(network=network)
    cluster.mount(LustreFileSystem(stack, "Lustre", network=network, security_group=cluster.security_group), at="/data")
    template = Template.from_stack(stack)
    assert config(template)["SharedStorage"][0]["MountDir"] == "/data"
    assert [one for one in resource(template)["DependsOn"] if one.startswith("Lustre")]


def test_fails_to_mount_where_something_is(stack: Stack, build: Callable[..., ParallelCluster]) -> None:
    network = new_network(stack)
    cluster = build(network=network, shared_storage=SharedStorage(ebs=[SharedEbs(at="/fsx", name="old")]))
    lustre = LustreFileSystem(stack, "Lustre", network=network, security_group=cluster.security_group)
    with pytest.raises(ConfigurationError, match="must be another for every shared directory, got /fsx a second time"):
        cluster.mount(lustre)


def test_a_file_system_with_a_group_of_its_own_is_opened_both_ways(
    stack: Stack, build: Callable[..., ParallelCluster]
) -> None:
    network = new_network(stack)
    servers = EfaSecurityGroup(stack, "Servers", vpc=network.vpc)
    lustre = LustreFileSystem(stack, "Lustre", network=network, security_group=servers)
    build(network=network, mounts=[Mount(file_system=lustre)])
    template = Template.from_stack(stack)
    rules = template.find_resources("AWS::EC2::SecurityGroupIngress")
    ports = sorted(rule["Properties"].get("FromPort", 0) for rule in rules.values())
    assert ports.count(988) == ports.count(1018) == 2
    assert [one for one in resource(template)["DependsOn"] if "ServersIn988" in one]


def test_nodes_of_two_clusters_and_one_network_in_two_stacks() -> None:
    app = App()
    owner, stack = new_stack(app, name="Owner"), new_stack(app, name="User")
    ParallelCluster(stack, "Cluster", network=new_network(owner), head_node=head(), queues=[queue()])
    template = Template.from_stack(stack)
    assert "Fn::ImportValue" in json.dumps(config(template)["HeadNode"]["Networking"]["SubnetId"])


def test_an_imported_cluster(stack: Stack) -> None:
    cluster = ParallelCluster.from_attributes(
        stack, "Imported", cluster_name="train", head_node_instance_id="i-1", head_node_private_ip="10.0.0.1"
    )
    assert cluster.connect_command == "aws ssm start-session --target i-1 --region us-east-1"
    assert cluster.outputs["HeadNodeAddress"] == "10.0.0.1"
    assert not cluster.connections.security_groups


# ---------------------------------------------------------------- warnings
POLICIES = [
    iam.ManagedPolicy.from_managed_policy_arn(Stack(), "Policy", f"arn:aws:iam::111111111111:policy/p{number}")
    for number in range(9)
]


def policy(arn: str) -> iam.IManagedPolicy:
    """Return a policy that exists."""
    return iam.ManagedPolicy.from_managed_policy_arn(Stack(), "Policy", f"arn:aws:{arn}")


WARNINGS: dict[str, tuple[dict[str, Any], str]] = {
    "other-version": (
        {"version": "3.99.0"},
        (
            "'version' is 3.99.0, and what is checked here is what 3.16.1 takes; run pcluster's own checks of your "
            "version before you deploy; one that AWS has not published has no provider"
        ),
    ),
    "managed-file-system": (
        {"shared_storage": SharedStorage(efs=[SharedEfs(at="/fsx")])},
        "shared storage 'fsx' is made by ParallelCluster and ends with its cluster, or outlives it unmanaged",
    ),
    "fleet-stop": (
        {"slurm": SlurmSettings(update_strategy=QueueUpdateStrategy.COMPUTE_FLEET_STOP)},
        "'update_strategy' COMPUTE_FLEET_STOP refuses changes of queues while nodes run",
    ),
    "ebs-bottleneck": (
        {
            "shared_storage": SharedStorage(ebs=[SharedEbs(at="/a")]),
            "queues": [queue(cpu(max_count=101))],
            "head_node": head(instance_type="c5.2xlarge"),
        },
        "an EBS volume is shared with 101 nodes",
    ),
    "efa-not-used": (
        {"queues": [queue(cpu(instance_type="c5n.18xlarge"), placement=Placement.CLUSTER)]},
        "compute resource 'c5n-18xlarge' of queue 'compute' is placed close together without EFA, which c5n.18xlarge",
    ),
    "home-hidden": (
        {"shared_storage": SharedStorage(ebs=[SharedEbs(at="/home/ec2-user")])},
        "a file system at /home/ec2-user hides /home/ec2-user, and the set-up makes no home on it: it must have one",
    ),
    "kept-instances": (
        {"queues": [queue(cpu(min_count=1))]},
        "1 nodes are always there, and the head node waits for all of them before the cluster is made",
    ),
    "mixed-accelerators": (
        {"queues": [queue(ComputeResource(instance_types=["g4dn.xlarge", "g5.xlarge"]))]},
        "compute resource 'g4dn-xlarge' of queue 'compute' has types with T4 and A10G: a job gets either",
    ),
    "memory-of-smallest": (
        {
            "queues": [queue(ComputeResource(instance_types=["c5.xlarge", "r5.xlarge"]))],
            "slurm": SlurmSettings(memory_scheduling=True),
        },
        "compute resource 'c5-xlarge' of queue 'compute' has types with 8 GiB to 32 GiB of memory: with",
    ),
    "shared-spool": (
        {"slurm": SlurmSettings(custom=[{"SlurmdSpoolDir": "/home/spool"}])},
        "SlurmdSpoolDir /home/spool is on /home, which all nodes share: it must be each node's own",
    ),
    "shared-state": (
        {
            "slurm": SlurmSettings(custom=[{"StateSaveLocation": "/shared/state"}]),
            "shared_storage": SharedStorage(ebs=[SharedEbs(at="/shared")]),
        },
        "StateSaveLocation /shared/state is on /shared: slurmctld runs as slurm and ends where it cannot write there",
    ),
    "node-features": (
        {"queues": [queue(cpu(slurm={"feature": "big"}))]},
        "Feature of compute resource 'c5-xlarge' of queue 'compute' takes the place of those that ParallelCluster",
    ),
    "long-grace": (
        {"login_pools": [LoginPool(name="l", instance_type="c5.large", grace_period=Duration.minutes(60))]},
        "login nodes of 'l' stay 60 minutes after they are given up: whatever takes one away waits so long",
    ),
    "alarms-without-agent": (
        {"monitoring": ParallelClusterMonitoring(logs=False)},
        "without 'logs' no CloudWatch agent runs: the head node's alarms on memory and disk never ring",
    ),
    "name-tag": ({"tags": {"Name": "x"}}, "'tags' have a Name, which the head node alone takes"),
    "open-ssh": ({"head_node": head(ssh_from="0.0.0.0/0")}, "SSH on the head node is open to the world"),
    "private-head-node": (
        {"head_node": head(ssh_from="8.8.8.0/24", public=False)},
        "'ssh_from' of the head node lets 8.8.8.0/24 in, and nobody there reaches its private address",
    ),
    "little-memory": (
        {"queues": [queue(cpu(schedulable_memory_mib=8))]},
        "compute resource 'c5-xlarge' of queue 'compute' gives 8 MiB of memory to jobs: 'schedulable_memory_mib'",
    ),
    "many-policies": (
        {"queues": [queue(cpu(), policies=POLICIES)]},
        "a role of nodes gets 11 managed policies with those of the cluster, and IAM attaches 10 unless the quota",
    ),
    "policy-of-aws": (
        {"queues": [queue(cpu(), policies=[policy("iam::aws:policy/AmazonPrometheusRemoteWriteAccess")])]},
        "queue 'compute' has arn:aws:iam::aws:policy/AmazonPrometheusRemoteWriteAccess, which ParallelCluster's",
    ),
    "script-without-right": (
        {"head_node": head(on_configured=[CustomAction(script="s3://own/setup.sh")])},
        "the head node fetches s3://own/setup.sh, and nothing is said that lets it: give it a policy, or S3Access of",
    ),
    "zone-without-type": (
        {"queues": [queue(trn1(instance_type="trn2u.48xlarge"), placement=Placement.CLUSTER)]},
        "queue 'compute': trn2u.48xlarge is not known to be offered in us-east-1",
    ),
}


@pytest.mark.parametrize(("slug", "changes", "text"), [(slug, *rest) for slug, rest in WARNINGS.items()], ids=WARNINGS)
def test_warns(
    stack: Stack, build: Callable[..., ParallelCluster], slug: str, changes: dict[str, Any], text: str
) -> None:
    build(**changes)
    found = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp(f"parallelcluster:{slug}"))
    assert [one for one in found if text in str(one.entry.data)]


@pytest.mark.parametrize(
    "changes",
    [
        {"login_pools": [LoginPool(name="l", instance_type="c5.large", grace_period=Duration.minutes(30))]},
        {"login_pools": [LoginPool(name="l", instance_type="c5.large", count=0, grace_period=Duration.minutes(60))]},
        {"login_pools": [LoginPool(name="l", instance_type="c5.large")]},
        {"monitoring": ParallelClusterMonitoring(logs=False, alarms=False)},
        {"monitoring": ParallelClusterMonitoring()},
    ],
)
def test_a_short_grace_and_alarms_with_metrics_are_no_news(
    stack: Stack, build: Callable[..., ParallelCluster], changes: dict[str, Any]
) -> None:
    build(**changes)
    slugs = "long-grace|alarms-without-agent"
    assert not Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp(slugs))


def test_warns_of_a_subnet_that_holds_the_nodes_and_none_in_their_place(
    stack: Stack, build: Callable[..., ParallelCluster]
) -> None:
    network = new_network(stack, accelerator_mask=28, interface_endpoints=[Endpoint.SSM, Endpoint.STS])
    build(network=network, queues=[queue(cpu(max_count=3))])
    found = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("parallelcluster:few-addresses"))
    assert "the subnet 10.1.128.0/28 has at most 6 of 11 addresses left" in str(found[0].entry.data)


@pytest.mark.parametrize("said", [{"SlurmdSpoolDir": "/home/%n"}, {"SlurmdSpoolDir": "/homes"}])
def test_a_spool_of_each_node_s_own_is_no_news(
    stack: Stack, build: Callable[..., ParallelCluster], said: dict[str, str]
) -> None:
    build(slurm=SlurmSettings(custom=[said]))
    assert not Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("shared-spool"))


@pytest.mark.parametrize(
    ("at", "raw"), [("/home", {}), ("/home/me", {}), ("/home/ec2-user", {"DefaultUserHome": "Local"})]
)
def test_a_home_that_is_not_hidden(
    stack: Stack, build: Callable[..., ParallelCluster], at: str, raw: dict[str, str]
) -> None:
    build(shared_storage=SharedStorage(ebs=[SharedEbs(at=at)]), raw_overrides={"DeploymentSettings": raw})
    assert not Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("home-hidden"))


@pytest.mark.parametrize(
    ("compute", "says"),
    [
        (cpu(), "c5.xlarge"),
        (trn1(efa=False), "trn1.32xlarge"),
        (cpu(instance_type="c5n.18xlarge"), "c5n.18xlarge"),
        (trn1(), ""),
    ],
)
def test_lustre_with_efa_that_no_node_uses(
    stack: Stack, build: Callable[..., ParallelCluster], compute: ComputeResource, says: str
) -> None:
    network = new_network(stack)
    servers = EfaSecurityGroup(stack, "Servers", vpc=network.vpc)
    lustre = LustreFileSystem(stack, "Lustre", network=network, security_group=servers, efa_enabled=True)
    placement = Placement.CLUSTER if not says else None
    build(network=network, mounts=[Mount(file_system=lustre)], queues=[queue(compute, placement=placement)])
    found = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("lustre-over-tcp"))
    text = f"the file system at /fsx has EFA, and {says} reach it over TCP: leave EFA out, unless others use it"
    assert [text in str(one.entry.data) for one in found] == [True] * bool(says)


@pytest.mark.parametrize(("zone", "warned"), [("us-east-1b", 1), ("us-east-1a", 0), (None, 0)])
def test_lustre_in_another_zone_than_the_nodes(
    stack: Stack, build: Callable[..., ParallelCluster], zone: str | None, warned: int
) -> None:
    network = new_network(stack)
    lustre = LustreFileSystem.from_attributes(
        stack,
        "Lustre",
        file_system_id="fs-0123456789abcdef0",
        dns_name="fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com",
        mount_name="abcdefgh",
        security_group=EfaSecurityGroup(stack, "Servers", vpc=network.vpc),
        zone=zone,
    )
    build(network=network, mounts=[Mount(file_system=lustre)])
    text = "the nodes in us-east-1a mount a file system in us-east-1b: .*:lustre-in-other-zone"
    assert len(Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp(text))) == warned


@pytest.mark.parametrize(
    "changes",
    [
        {"queues": [queue(cpu(min_count=8))], "timeouts": Timeouts(head_node=Duration.minutes(55))},
        {"queues": [queue(cpu(min_count=8), reservation_id="cr-0123456789abcdef0")]},
    ],
    ids=["who has thought of it", "what is reserved"],
)
def test_nodes_that_are_always_there_are_no_news_to(
    stack: Stack, build: Callable[..., ParallelCluster], changes: dict[str, Any]
) -> None:
    build(**changes)
    assert not Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("kept-instances"))


@pytest.mark.parametrize(
    "changes",
    [
        {"policies": [policy("iam::aws:policy/AmazonSSMManagedInstanceCore")]},
        {"policies": [policy("iam::aws:policy/service-role/AmazonEC2ContainerServiceforEC2Role")]},
        {"policies": [iam.ManagedPolicy.from_aws_managed_policy_name("AmazonS3ReadOnlyAccess")]},
        {"on_start": [CustomAction(script="https://own.example/setup.sh")]},
        {"on_start": [CustomAction(script="s3://us-east-1-aws-parallelcluster/setup.sh")]},
        {
            "on_start": [CustomAction(script="s3://own/setup.sh")],
            "raw_overrides": {"Iam": {"S3Access": [{"BucketName": "own"}]}},
        },
        {
            "on_start": [CustomAction(script="s3://own/setup.sh")],
            "policies": [policy("iam::111111111111:policy/parallelcluster/read")],
        },
    ],
    ids=[
        "a policy that every node has",
        "a service's policy",
        "a policy by the name of a construct",
        "a script of a web server",
        "a script of ParallelCluster's",
        "a bucket in raw keys",
        "a policy of the account",
    ],
)
def test_what_nodes_may_attach_and_fetch_is_no_news(
    stack: Stack, build: Callable[..., ParallelCluster], changes: dict[str, Any]
) -> None:
    build(queues=[queue(cpu(), **changes)])
    assert not Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("policy-of-aws|without-right"))


def test_what_is_the_same_of_many_is_said_once_with_their_names(
    stack: Stack, build: Callable[..., ParallelCluster]
) -> None:
    said = {"grace_period": Duration.minutes(60), "on_start": [CustomAction(script="s3://own/setup.sh")]}
    build(login_pools=[LoginPool(name=name, instance_type="c5.large", ssh_from="0.0.0.0/0", **said) for name in "ab"])
    for slug, text in {
        "long-grace": "login nodes of 'a', 'b' stay",
        "open-ssh": "SSH on login pool 'a', login pool 'b' is open",
        "script-without-right": "login pool 'a', login pool 'b' fetch s3://own/setup.sh",
    }.items():
        (found,) = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp(f"parallelcluster:{slug}"))
        assert text in str(found.entry.data)


def test_hundreds_of_them_are_a_warning_in_any_case(stack: Stack, build: Callable[..., ParallelCluster]) -> None:
    build(
        queues=[queue(cpu(min_count=101, max_count=200))],
        head_node=head(instance_type="c5.4xlarge"),
        timeouts=Timeouts(head_node=Duration.minutes(55)),
    )
    found = Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("kept-instances"))
    assert "its own scripts included, 55 minutes at most, and CloudFormation's hour" in str(found[0].entry.data)


def test_the_usual_cluster_warns_of_nothing(stack: Stack, build: Callable[..., ParallelCluster]) -> None:
    build()
    assert not Annotations.from_stack(stack).find_warning("*", Match.string_like_regexp("parallelcluster:"))
