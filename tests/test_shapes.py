"""The nine shapes of apps that a platform team writes around the constructs synthesize, and theirs has its effect."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsii
import pytest
from aws_cdk import (
    App,
    Aspects,
    CfnParameter,
    CfnResource,
    DefaultStackSynthesizer,
    Environment,
    IAspect,
    RemovalPolicies,
    RemovalPolicy,
    Stack,
    Stage,
    Tags,
    pipelines,
)
from aws_cdk import aws_batch as batch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template
from constructs import IConstruct

from cdk_trainyard import (
    EfaLaunchTemplate,
    EfaSecurityGroup,
    Mount,
    TrainingBuckets,
    TrainingNetwork,
)
from tests.parts import CLUSTERS, REGION, ZONE, fleet, groups, hyperpod, lustre, new_stack, parallelcluster
from tests.support import STAGED

OURS, THEIRS = (Environment(account=account, region=REGION) for account in ("111111111111", "222222222222"))


def everything(stack: Stack) -> None:
    """One of each: a network, buckets, a file system and the three kinds of clusters on them."""
    network = TrainingNetwork(stack, "Network", zone=ZONE)
    buckets = TrainingBuckets(stack, "Buckets")
    mounts = [Mount(file_system=lustre(stack, network))]
    hyperpod(stack, network, mounts=mounts).use(buckets)
    parallelcluster(stack, network, mounts=mounts).use(buckets)
    fleet(stack, network, mounts=mounts, scripts_bucket=buckets.scripts).use(buckets)


def of_type(stack: Stack, kind: str) -> list[dict[str, Any]]:
    """The properties of the resources of a type."""
    return [each.get("Properties", {}) for each in Template.from_stack(stack).find_resources(kind).values()]


def resources(stack: Stack) -> Iterator[CfnResource]:
    yield from (each for each in stack.node.find_all() if CfnResource.is_cfn_resource(each))


@pytest.mark.parametrize("build", CLUSTERS)
def test_what_exists_is_named_by_its_attributes(build: Any) -> None:
    stack = new_stack()
    vpc = ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-0123456789abcdef0",
        vpc_cidr_block="10.0.0.0/16",
        availability_zones=[ZONE],
        private_subnet_ids=["subnet-0123456789abcdef0"],
        private_subnet_route_table_ids=["rtb-0123456789abcdef0"],
    )
    network = TrainingNetwork.from_existing(
        stack,
        "Network",
        vpc=vpc,
        accelerator_subnet=vpc.private_subnets[0],
        zone=ZONE,
        accelerator_cidr="10.0.0.0/17",
        public_subnets=[],
    )
    key = kms.Key.from_key_arn(stack, "Key", f"arn:aws:kms:{REGION}:111111111111:key/0123")
    scripts = s3.Bucket.from_bucket_attributes(stack, "Scripts", bucket_name="company-scripts", encryption_key=key)
    role = iam.Role.from_role_arn(stack, "Role", "arn:aws:iam::111111111111:role/company")
    scripts.grant_read(role)
    more = {"scripts_bucket": scripts} if build is fleet else {}
    build(stack, network, mounts=[Mount(file_system=lustre(stack, network, key=key))], **more)
    assert of_type(stack, "AWS::FSx::FileSystem")[0]["KmsKeyId"] == key.key_arn
    assert of_type(stack, "AWS::EC2::VPC") == []


def test_roles_have_the_boundary_of_the_company() -> None:
    stack = new_stack()
    everything(stack)
    boundary = iam.ManagedPolicy.from_managed_policy_name(stack, "Boundary", "company")
    iam.PermissionsBoundary.of(stack).apply(boundary)
    roles = of_type(stack, "AWS::IAM::Role")
    assert roles
    assert [role for role in roles if "company" not in json.dumps(role.get("PermissionsBoundary"))] == []


def test_tags_reach_what_takes_tags() -> None:
    stack = new_stack()
    everything(stack)
    Tags.of(stack).add("cost-center", "research")
    tag = {"Key": "cost-center", "Value": "research"}
    for kind in (
        "AWS::EC2::VPC",
        "AWS::S3::Bucket",
        "AWS::FSx::FileSystem",
        "AWS::SageMaker::Cluster",
        "AWS::IAM::Role",
    ):
        found = of_type(stack, kind)
        assert found
        assert [each for each in found if tag not in each["Tags"]] == []


@jsii.implements(IAspect)
class _Versioned:
    """An aspect of theirs: every bucket is versioned, and every log group is kept for as long as they say."""

    def visit(self, node: IConstruct) -> None:
        if CfnResource.is_cfn_resource(node):
            each: Any = node
            if each.cfn_resource_type == "AWS::S3::Bucket":
                each.add_property_override("VersioningConfiguration.Status", "Enabled")
            if each.cfn_resource_type == "AWS::Logs::LogGroup":
                each.add_property_override("RetentionInDays", 400)


def test_aspects_visit_and_change_what_is_here() -> None:
    stack = new_stack()
    everything(stack)
    Aspects.of(stack).add(_Versioned())
    RemovalPolicies.of(stack).apply(RemovalPolicy.RETAIN)
    buckets, logs = of_type(stack, "AWS::S3::Bucket"), of_type(stack, "AWS::Logs::LogGroup")
    assert {each["VersioningConfiguration"]["Status"] for each in buckets} == {"Enabled"}
    assert {each["RetentionInDays"] for each in logs} == {400}


def test_a_qualifier_of_the_company_holds_for_its_assets(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path), post_cli_context=STAGED)
    stack = Stack(app, "Stack", env=OURS, synthesizer=DefaultStackSynthesizer(qualifier="company"))
    everything(stack)
    app.synth()
    texts = [path.read_text() for path in tmp_path.glob("*.json")]
    assert any("cdk-company-assets-111111111111-us-west-2" in text for text in texts)
    assert [text for text in texts if "hnb659fds" in text] == []


def test_a_pipeline_deploys_it_in_two_accounts(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    home = Stack(app, "Pipeline", env=OURS)
    source = pipelines.CodePipelineSource.connection(
        "company/training", "main", connection_arn=f"arn:aws:codestar-connections:{REGION}:111111111111:connection/0123"
    )
    step = pipelines.ShellStep("Synth", input=source, commands=["npx cdk synth"])
    pipeline = pipelines.CodePipeline(home, "Pipeline", synth=step, cross_account_keys=True)
    for name, environment in {"Try": OURS, "Live": THEIRS}.items():
        stage = Stage(app, name, env=environment)
        everything(Stack(stage, "Training"))
        pipeline.add_stage(stage)
    assembly = app.synth()
    templates = {
        each.environment.account: json.loads(Path(each.template_full_path).read_text())
        for name in ("Try", "Live")
        for each in assembly.get_nested_assembly(f"assembly-{name}").stacks
    }
    assert {*templates} == {"111111111111", "222222222222"}
    ours, theirs = (sorted(each["Type"] for each in one["Resources"].values()) for one in templates.values())
    assert ours == theirs
    assert "AWS::SageMaker::Cluster" in ours
    assert [
        name for name in ("Try", "Live") if name not in json.dumps(of_type(home, "AWS::CodePipeline::Pipeline"))
    ] == []


def test_two_of_everything_stand_in_one_network() -> None:
    stack = new_stack()
    network = TrainingNetwork(stack, "Network", zone=ZONE)
    for name in ("One", "Two"):
        part = Stack(stack.node.root, name, env=OURS)
        buckets = TrainingBuckets(part, "Buckets")
        mounts = [Mount(file_system=lustre(part, network))]
        hyperpod(part, network, mounts=mounts, cluster_name=f"hyperpod-{name.lower()}").use(buckets)
        parallelcluster(part, network, mounts=mounts, cluster_name=f"slurm-{name.lower()}").use(buckets)
        fleet(part, network, mounts=mounts, scripts_bucket=buckets.scripts).use(buckets)
    one, two = (of_type(stack.node.root.node.find_child(name), "AWS::SageMaker::Cluster") for name in ("One", "Two"))
    assert one[0]["VpcConfig"] != []
    assert one[0]["VpcConfig"]["Subnets"] == two[0]["VpcConfig"]["Subnets"]
    assert len(of_type(stack, "AWS::EC2::VPC")) == 1


def test_a_launch_template_stands_in_node_groups_of_eks_and_in_batch() -> None:
    stack = new_stack()
    network = TrainingNetwork(stack, "Network", zone=ZONE, service_zones=["us-west-2b", "us-west-2c"])
    group = EfaSecurityGroup(stack, "Efa", vpc=network.vpc)
    nodes = EfaLaunchTemplate(stack, "Nodes", instance_type="p5.48xlarge", security_group=group)
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    eks.CfnNodegroup(
        stack,
        "NodeGroup",
        cluster_name="company",
        node_role=role.role_arn,
        subnets=[network.accelerator_subnet.subnet_id],
        launch_template=eks.CfnNodegroup.LaunchTemplateSpecificationProperty(
            id=nodes.launch_template_id, version=nodes.latest_version
        ),
    )
    batch.CfnComputeEnvironment(
        stack,
        "Batch",
        type="MANAGED",
        compute_resources=batch.CfnComputeEnvironment.ComputeResourcesProperty(
            type="EC2",
            maxv_cpus=384,
            subnets=[network.accelerator_subnet.subnet_id],
            launch_template=batch.CfnComputeEnvironment.LaunchTemplateSpecificationProperty(
                launch_template_id=nodes.launch_template_id, version=nodes.latest_version
            ),
        ),
    )
    (of_eks,) = of_type(stack, "AWS::EKS::Nodegroup")
    (of_batch,) = of_type(stack, "AWS::Batch::ComputeEnvironment")
    assert of_eks["LaunchTemplate"]["Id"] == of_batch["ComputeResources"]["LaunchTemplate"]["LaunchTemplateId"]
    (data,) = (each["LaunchTemplateData"] for each in of_type(stack, "AWS::EC2::LaunchTemplate"))
    assert sum(each["InterfaceType"] != "interface" for each in data["NetworkInterfaces"]) == 32


def test_counts_types_and_names_are_parameters() -> None:
    stack = new_stack()
    count = CfnParameter(stack, "Count", type="Number", default=2).value_as_number
    kind, name = (CfnParameter(stack, each, default="some").value_as_string for each in ("Type", "Name"))
    network = TrainingNetwork(stack, "Network", zone=ZONE)
    hyperpod(stack, network, cluster_name=name, groups=groups(instance_type=kind, count=count))
    fleet(stack, network, count=count)
    (cluster,) = of_type(stack, "AWS::SageMaker::Cluster")
    assert cluster["ClusterName"] == {"Ref": "Name"}
    (workers,) = (each for each in cluster["InstanceGroups"] if each["InstanceGroupName"] == "workers")
    assert (workers["InstanceCount"], workers["InstanceType"]) == ({"Ref": "Count"}, {"Ref": "Type"})
    assert {"Ref": "Count"} in [each["MaxSize"] for each in of_type(stack, "AWS::AutoScaling::AutoScalingGroup")]
