"""What a platform team wrote against the wheel from READMEs and types alone: apps as theirs, and what they expected."""

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from aws_cdk import App, Aws, CfnCondition, CfnMapping, CfnParameter, Environment, Fn, Stack, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_ssm as ssm
from aws_cdk.assertions import Annotations, Match, Template
from constructs import Construct

from cdk_trainyard import (
    AccountingDatabase,
    BucketPurpose,
    ComputeResource,
    ConfigurationError,
    DataRepository,
    EfaFleet,
    EfaLaunchTemplate,
    EfaSecurityGroup,
    HeadNode,
    HyperPodCluster,
    InstanceGroup,
    LoginPool,
    MasterNode,
    Mount,
    Network,
    NodeImage,
    ParallelCluster,
    Queue,
    ServingHosts,
    TrainingBucket,
    TrainingImage,
    TrainingNetwork,
)
from cdk_trainyard.options.stand_ins import CDK_TYPES
from cdk_trainyard.tokens import dummy, unresolved
from tests.parts import CLUSTERS, REGION, ZONE, fleet, groups, hyperpod, lustre, new_stack, parallelcluster
from tests.serving.parts import service


@pytest.fixture
def stack() -> Stack:
    return new_stack()


def template(stack: Stack) -> dict[str, Any]:
    return dict(Template.from_stack(stack).to_json())


def accounting(stack: Stack, network: Network) -> AccountingDatabase:
    return AccountingDatabase(stack, "Accounting", network=network)


# ---------------------------------------------------------------- a first synthesis, before anything is looked up
def looked_up(stack: Stack) -> ec2.IVpc:
    return ec2.Vpc.from_lookup(stack, "Vpc", vpc_id="vpc-0123456789abcdef0")


def test_every_value_that_cdk_has_yet_to_look_up_is_known_as_one(stack: Stack) -> None:
    vpc = looked_up(stack)
    subnets = [*vpc.public_subnets, *vpc.private_subnets, *vpc.isolated_subnets]
    values = [
        *(vpc.vpc_id, vpc.vpc_cidr_block, *vpc.availability_zones, *stack.availability_zones),
        *(subnet.subnet_id for subnet in subnets),
        *(subnet.ipv4_cidr_block for subnet in subnets),
        *(subnet.availability_zone for subnet in subnets),
        *(subnet.route_table.route_table_id for subnet in subnets),
        ssm.StringParameter.value_from_lookup(stack, "/company/zone"),
        ec2.MachineImage.lookup(name="company-*").get_image(stack).image_id,
        ec2.PrefixList.from_lookup(stack, "List", prefix_list_name="company").prefix_list_id,
    ]
    assert [value for value in values if not dummy(value)] == []
    arns = [
        iam.Role.from_lookup(stack, "Role", role_name="company").role_arn,
        ecr.Repository.from_lookup(stack, "Repository", repository_name="company").repository_arn,
    ]
    assert unresolved(*arns)


@pytest.mark.parametrize("build", CLUSTERS)
def test_a_vpc_that_is_looked_up_takes_clusters(build: Callable[..., Any], stack: Stack) -> None:
    vpc = looked_up(stack)
    subnet = vpc.private_subnets[0]
    network = TrainingNetwork.from_existing(
        stack,
        "Network",
        vpc=vpc,
        accelerator_subnet=subnet,
        zone=subnet.availability_zone,
        accelerator_cidr=subnet.ipv4_cidr_block,
        public_subnets=vpc.public_subnets,
        service_subnets=vpc.private_subnets,
    )
    group = ec2.SecurityGroup.from_lookup_by_id(stack, "Group", "sg-0123456789abcdef0")
    efa = EfaSecurityGroup.from_security_group(stack, "Efa", group)
    key = kms.Key.from_lookup(stack, "Key", alias_name="alias/company")
    file_system = lustre(stack, network, security_group=efa, key=key)
    AccountingDatabase(stack, "Accounting", network=network)
    build(stack, network, security_group=efa, mounts=[Mount(file_system=file_system)])
    assert network.has_nat
    assert template(stack)


def test_a_new_network_stands_where_parameters_say(stack: Stack) -> None:
    zones = stack.availability_zones
    block = ssm.StringParameter.value_from_lookup(stack, "/company/block")
    second = ssm.StringParameter.value_from_lookup(stack, "/company/second")
    network = TrainingNetwork(
        stack, "Network", zone=zones[0], service_zones=zones[:2], cidr=block, secondary_cidr=second
    )
    hyperpod(stack, network)
    assert len(network.service_subnets) == 2
    zone = ssm.StringParameter.value_from_lookup(stack, "/company/zone")
    TrainingNetwork(stack, "Second", zone=zone, accelerator_cidr=block)
    assert template(stack)


def test_names_and_types_of_parameters_are_taken(stack: Stack) -> None:
    text = ssm.StringParameter.value_from_lookup(stack, "/company/text")
    network = TrainingNetwork(stack, "Network", zone=ZONE)
    hyperpod(stack, network, cluster_name=text, prometheus_workspace_arn=text, groups=groups(instance_type=text))
    queues = [Queue(name="compute", compute=[ComputeResource(instance_type=text, max_count=4)])]
    parallelcluster(stack, network, cluster_name=text, queues=queues)
    nodes = fleet(stack, network, instance_type=text, reservation_id=text, image=NodeImage(dlami=text))
    MasterNode(stack, "Master", fleet=nodes, instance_type=text)
    assert template(stack)


# ---------------------------------------------------------------- acknowledgments
def by_parameter(stack: Stack) -> str:
    subnets = CfnParameter(stack, "Subnets", type="List<AWS::EC2::Subnet::Id>")
    return Fn.select(0, subnets.value_as_list)


def by_export(_: Stack) -> str:
    return Fn.select(0, Fn.split(",", Fn.import_value("subs")))


@pytest.mark.parametrize("subnet_id", [by_parameter, by_export])
def test_a_subnet_of_a_list_of_tokens_breaks_no_synthesis(subnet_id: Callable[[Stack], str], stack: Stack) -> None:
    vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id=Fn.import_value("vpc"), availability_zones=[ZONE])
    subnet = ec2.Subnet.from_subnet_attributes(
        stack, "Subnet", subnet_id=subnet_id(stack), availability_zone=ZONE, ipv4_cidr_block="10.0.0.0/16"
    )
    network = TrainingNetwork.from_existing(stack, "Network", vpc=vpc, accelerator_subnet=subnet, zone=ZONE)
    for build in CLUSTERS:
        build(stack, network)
    assert template(stack)


def test_a_name_of_any_function_breaks_no_synthesis(stack: Stack) -> None:
    names = CfnMapping(stack, "Names", mapping={REGION: {"name": "mapped"}})
    network = TrainingNetwork(stack, "Network", zone=ZONE)
    for number, name in enumerate(
        [
            Fn.select(1, Fn.split(",", Fn.import_value("names"))),
            names.find_in_map(Aws.REGION, "name"),
            Fn.condition_if("Large", "large", "small").to_string(),
            Fn.join("-", ["a", Fn.base64("b")]),
            Fn.select(0, Fn.split("-", Fn.select(2, Fn.split("/", Aws.STACK_ID)))),
        ]
    ):
        HyperPodCluster(stack, f"Cluster{number}", network=network, groups=groups(), cluster_name=name)
    CfnCondition(stack, "Large", expression=Fn.condition_equals("a", "b"))
    assert template(stack)


def test_what_is_the_users_own_is_never_explained_by_the_library(stack: Stack) -> None:
    mine = Construct(stack, "Mine")
    key = kms.Key(mine, "Key")
    own = {
        purpose: s3.Bucket(mine, purpose, encryption_key=key)
        for purpose in ("scripts", "datasets", "checkpoints", "models", "logs")
    }
    role = iam.Role(mine, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    network = TrainingNetwork(stack, "Network", zone=ZONE, flow_logs_key=key)
    group = ec2.SecurityGroup(mine, "Group", vpc=network.vpc)
    efa = EfaSecurityGroup.from_security_group(stack, "Efa", group)
    TrainingBucket(stack, "Bucket", purpose=BucketPurpose.MODELS, key=key, access_logs=own["logs"])
    file_system = lustre(
        stack,
        network,
        key=key,
        security_group=efa,
        data_repositories=[DataRepository(file_system_path="/data", bucket=own["datasets"])],
    )
    hyperpod(stack, network, security_group=efa, role=role, mounts=[Mount(file_system=file_system)])
    fleet(stack, network, security_group=efa, scripts_bucket=own["scripts"], volume_key=key, role=role)
    resources = template(stack)["Resources"]
    explained = {
        name: resource["Metadata"]
        for name, resource in resources.items()
        if name.startswith("Mine") and {"checkov", "cfn-lint"} & set(resource.get("Metadata", {}))
    }
    assert explained == {}
    entries = [entry.type for construct in mine.node.find_all() for entry in construct.node.metadata]
    assert Validations.ACKNOWLEDGED_RULES_METADATA_KEY not in entries


# ---------------------------------------------------------------- EFA is never lost
def test_a_type_that_is_known_at_deployment_only_does_not_lose_efa(stack: Stack) -> None:
    token = CfnParameter(stack, "Type").value_as_string
    network = TrainingNetwork(stack, "Network", zone=ZONE)
    group = EfaSecurityGroup(stack, "Efa", vpc=network.vpc)
    nodes = fleet(stack, network)
    for build, option in (
        (lambda: EfaLaunchTemplate(stack, "A", instance_type=token, security_group=group), "instance_type"),
        (lambda: fleet(Stack(stack, "B"), network, instance_type=token), "instance_type"),
        (lambda: fleet(Stack(stack, "D"), network, instance_type=None, instance_types=[token]), "instance_types[0]"),
        (lambda: MasterNode(stack, "C", fleet=nodes, instance_type=token), "instance_type"),
    ):
        with pytest.raises(ConfigurationError) as caught:
            build()
        assert f"'{option}' must be known when the app is synthesized, got a Token: the network interfaces" in str(
            caught.value
        )


# ---------------------------------------------------------------- objects of CDK, and values of another kind
def refused(build: Callable[[], Any]) -> str:
    with pytest.raises(ConfigurationError) as caught:
        build()
    return str(caught.value)


@pytest.mark.parametrize("build", [*CLUSTERS, accounting])
def test_a_vpc_is_answered_with_what_takes_it(build: Callable[..., Any], stack: Stack) -> None:
    vpc = ec2.Vpc(stack, "Vpc")
    with pytest.raises(ConfigurationError) as caught:
        build(stack, vpc)
    why = "TrainingNetwork.from_existing takes a VPC of yours, and which of its subnets the nodes are in"
    assert caught.value.problems == (f"'network' must be a Network, got a Vpc; {why}",)


def number_of(stack: Stack) -> float:
    return CfnParameter(stack, "Number", type="Number").value_as_number


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (
            lambda stack, network: hyperpod(stack, network, groups=groups(count="4")),
            "'groups.workers.count' must be a whole number, got '4' (str)",
        ),
        (
            lambda stack, network: hyperpod(stack, network, groups=groups(role="controller")),
            "GroupRole.CONTROLLER, GroupRole.LOGIN or GroupRole.COMPUTE, got 'controller' (str)",
        ),
        (
            lambda stack, network: lustre(stack, network, capacity_gib="1200"),
            "'capacity_gib' must be a whole number, got '1200' (str)",
        ),
        (
            lambda stack, network: fleet(stack, network, count="2"),
            "'count' must be a whole number, got '2' (str)",
        ),
        (
            lambda stack, network: fleet(stack, network, mounts=[lustre(stack, network)]),
            "'mounts[0]' must be a Mount, got a LustreFileSystem",
        ),
        (
            lambda stack, network: hyperpod(stack, network, accounting="database"),
            "'accounting' must be an AccountingDatabase, got 'database' (str)",
        ),
        (
            lambda stack, network: service(
                stack,
                network=network,
                cluster=ecs.Cluster.from_cluster_attributes(stack, "Ecs", cluster_name="mine", vpc=network.vpc),
            ),
            "'cluster' must be an ecs.Cluster, got a",
        ),
    ],
)
def test_a_value_of_another_kind_is_answered_with_the_one_that_is_wanted(
    build: Callable[[Stack, Network], Any], words: str, stack: Stack
) -> None:
    network = TrainingNetwork(stack, "Network", zone=ZONE, service_zones=["us-west-2a", "us-west-2b"])
    assert words in refused(lambda: build(stack, network))


def test_a_number_of_a_parameter_is_taken(stack: Stack) -> None:
    network = TrainingNetwork(stack, "Network", zone=ZONE)
    compute = ComputeResource(instance_type="c5.xlarge", max_count=number_of(stack))
    parallelcluster(stack, network, queues=[Queue(name="compute", compute=[compute])])
    assert template(stack)


def test_an_instance_type_of_cdk_is_taken(stack: Stack) -> None:
    network = TrainingNetwork(stack, "Network", zone=ZONE)
    hyperpod(stack, network, groups=groups(instance_type=ec2.InstanceType("c5.4xlarge")))
    nodes = fleet(stack, network, instance_type=ec2.InstanceType("p4d.24xlarge"))
    MasterNode(stack, "Master", fleet=nodes, instance_type=ec2.InstanceType("c5n.18xlarge"))
    compute = ComputeResource(
        instance_type=ec2.InstanceType.of(ec2.InstanceClass.C5, ec2.InstanceSize.XLARGE),
        max_count=4,
    )
    parallelcluster(stack, network, queues=[Queue(name="compute", compute=[compute])])
    text = json.dumps(template(stack))
    assert all(f'"{name}"' in text for name in ("ml.c5.4xlarge", "p4d.24xlarge", "c5n.18xlarge", "c5.xlarge"))
    assert all(each.interfaces[0].interface_type != "interface" or len(each.interfaces) > 1 for each in nodes.templates)


@pytest.mark.parametrize("kind", [EfaFleet, EfaLaunchTemplate, MasterNode, TrainingImage])
def test_keywords_of_types_name_that_of_cdk(kind: type) -> None:
    keywords = inspect.signature(kind.__init__).parameters
    found = [str(keywords[name].annotation) for name in ("instance_type", "instance_types") if name in keywords]
    assert found
    assert [text for text in found if "aws_cdk.aws_ec2.InstanceType" not in text] == []


@pytest.mark.parametrize("spec", [InstanceGroup, ComputeResource, HeadNode, LoginPool, ServingHosts])
def test_options_of_types_name_that_of_cdk(spec: type) -> None:
    """As type checkers read them: a name, or a type of CDK."""
    hints = get_type_hints(spec, localns={**CDK_TYPES, "ec2": ec2})
    found = [str(hints[name]) for name in ("instance_type", "instance_types") if name in hints]
    assert found
    assert [text for text in found if "aws_cdk.aws_ec2.InstanceType" not in text] == []


def test_hosts_take_an_instance_type_of_cdk(stack: Stack) -> None:
    service(stack, instance_type=ec2.InstanceType("inf2.8xlarge"))
    assert '"inf2.8xlarge"' in json.dumps(template(stack))


def test_security_groups_of_cdk_are_taken_and_get_the_rules_of_efa_once(stack: Stack) -> None:
    network = TrainingNetwork(stack, "Network", zone=ZONE)
    mine = ec2.SecurityGroup(stack, "Mine", vpc=network.vpc)
    given = ec2.SecurityGroup.from_security_group_id(stack, "Given", "sg-0123456789abcdef0")
    lustre(stack, network, security_group=mine)
    hyperpod(stack, network, security_group=mine, extra_security_groups=[given])
    fleet(stack, network, security_group=mine, extra_security_groups=[given])
    parallelcluster(stack, network, security_group=mine)
    EfaLaunchTemplate(stack, "Template", instance_type="p4d.24xlarge", security_group=mine)
    resources = template(stack)["Resources"]
    kinds = [resource["Type"] for resource in resources.values()]
    assert kinds.count("AWS::EC2::SecurityGroup") == 1
    assert kinds.count("AWS::EC2::SecurityGroupIngress") == kinds.count("AWS::EC2::SecurityGroupEgress") == 2


# ---------------------------------------------------------------- what must not change, and names
@pytest.mark.parametrize("made", ["imported", "own"])
def test_a_role_that_must_not_change_gets_no_policy_and_its_owner_is_told(made: str, stack: Stack) -> None:
    network = TrainingNetwork(stack, "Network", zone=ZONE)
    roles = {
        "imported": lambda: iam.Role.from_role_arn(
            stack, "Role", "arn:aws:iam::111111111111:role/company", mutable=False
        ),
        "own": lambda: iam.Role(
            stack, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com")
        ).without_policy_updates(),
    }
    role = roles[made]()
    hyperpod(stack, network, role=role)
    fleet(stack, network, role=role)
    policies = Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy").values()
    assert policies
    assert [policy for policy in policies if policy["Properties"].get("Roles")] == []
    told = Annotations.from_stack(stack).find_warning(
        "*", Match.string_like_regexp(r"the role of the nodes cannot be changed from here \(Stack/.*\): attach Stack/")
    )
    assert {entry.id for entry in told} == {"/Stack/HyperPod/ExecutionRole", "/Stack/Fleet/Role"}


@pytest.mark.parametrize("name", ["Role", "ImmutableRole"])
def test_a_role_that_may_change_gets_the_policy(name: str, stack: Stack) -> None:
    role = iam.Role.from_role_arn(stack, name, "arn:aws:iam::111111111111:role/company")
    hyperpod(stack, TrainingNetwork(stack, "Network", zone=ZONE), role=role)
    policies = Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy").values()
    assert [roles for policy in policies if (roles := policy["Properties"].get("Roles"))] == [["company"]]


def test_two_clusters_of_one_name_are_refused_in_one_place_only() -> None:
    app = App()

    def cluster(stack_name: str, region: str) -> None:
        stack = Stack(app, stack_name, env=Environment(account="111111111111", region=region))
        network = TrainingNetwork(stack, "Network", zone=f"{region}a")
        hyperpod(stack, network, cluster_name="training")
        parallelcluster(stack, network, cluster_name="training")

    cluster("One", "us-west-2")
    cluster("Two", "us-east-2")
    text = refused(lambda: cluster("Three", "us-west-2"))
    assert "'cluster_name' must be another than that of any cluster, got 'training' again" in text


# ---------------------------------------------------------------- traces
@pytest.mark.programs
def test_an_imported_subnet_leaves_no_error_for_the_cli(tmp_path: Path) -> None:
    app = """
import os
os.environ["JSII_NODE"] = os.environ["NODE"]
from aws_cdk import App, Stack, aws_ec2 as ec2
from cdk_trainyard import HeadNode, ComputeResource, ParallelCluster, Queue, TrainingNetwork
app = App()
stack = Stack(app, "Stack")
vpc = ec2.Vpc.from_vpc_attributes(stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"])
subnets = [ec2.Subnet.from_subnet_id(stack, f"Subnet{n}", f"subnet-0123456789abcde{n}{n}") for n in range(2)]
network = TrainingNetwork.from_existing(
    stack, "Network", vpc=vpc, accelerator_subnet=subnets[0], public_subnets=subnets[1:], zone="us-west-2a"
)
queues = [Queue(name="compute", compute=[ComputeResource(instance_type="c5.xlarge", max_count=4)])]
ParallelCluster(stack, "Cluster", network=network, head_node=HeadNode(instance_type="c5.xlarge"), queues=queues)
app.synth()
"""
    error = tmp_path / "error.txt"
    told = {"CDK_ERROR_FILE": str(error), "CDK_OUTDIR": str(tmp_path / "out"), "NODE": os.environ["JSII_NODE"]}
    subprocess.run([sys.executable, "-c", app], env=os.environ | told, check=True, cwd=tmp_path)
    assert not error.exists()


@pytest.mark.programs
def test_an_older_cdk_is_told_by_what_it_lacks() -> None:
    """``from cdk_trainyard import …`` says what is missing, not that the name is."""
    app = """
from aws_cdk import aws_fsx as fsx
del fsx.CfnFileSystem.LogConfigurationProperty
from cdk_trainyard import LustreFileSystem
"""
    done = subprocess.run([sys.executable, "-c", app], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert said.startswith("ImportError: cdk_trainyard.storage.lustre cannot be imported: ")
    assert "LogConfigurationProperty" in said


# ---------------------------------------------------------------- escape hatch and help
def test_the_default_child_is_the_resource_itself(stack: Stack) -> None:
    network = TrainingNetwork(stack, "Network", zone=ZONE)
    cluster = hyperpod(stack, network)
    made = {
        network: "AWS::EC2::VPC",
        cluster: "AWS::SageMaker::Cluster",
        cluster.execution_role: "AWS::IAM::Role",
        parallelcluster(stack, network): "Custom::PclusterCluster",
        fleet(stack, network): "AWS::AutoScaling::AutoScalingGroup",
        lustre(stack, network): "AWS::FSx::FileSystem",
        TrainingBucket(stack, "Bucket", purpose=BucketPurpose.MODELS): "AWS::S3::Bucket",
        EfaSecurityGroup(stack, "Group", vpc=network.vpc): "AWS::EC2::SecurityGroup",
    }
    found = {kind: construct.node.default_child for construct, kind in made.items()}
    assert {kind: getattr(child, "cfn_resource_type", None) for kind, child in found.items()} == {
        kind: kind for kind in made.values()
    }


@pytest.mark.parametrize("construct", [HyperPodCluster, ParallelCluster])
def test_help_says_every_attribute(construct: type) -> None:
    attributes = str(construct.__doc__).partition("Attributes:")[2]
    inherited = [name for base in construct.__mro__[1:] for name in vars(base).get("__annotations__", {})]
    public = [name for name in inherited if not name.startswith("_")]
    assert public
    assert [name for name in public if f"        {name}: " not in attributes] == []
