"""HyperPod clusters: what is kept, what is refused, what fails."""

from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from cdk_trainyard.local.services.sagemaker_rules import has_efa, refusals
from tests.local.stacks import Stacks, Template, template
from tests.local.support import of
from tests.support import every

_SCRIPTS = {"SourceS3Uri": {"Fn::Sub": ["s3://${b}/scripts/", {"b": of("Bucket")}]}, "OnCreate": "on_create.sh"}
_VPC = {"SecurityGroupIds": [of("Group")], "Subnets": [of("SubnetA")]}
_OTHER_GROUP = {
    "Type": "AWS::EC2::SecurityGroup",
    "Properties": {"VpcId": of("Vpc"), "GroupDescription": "lets everything out, but trusts nobody"},
}


def _group(name: str = "workers", **more: Any) -> dict[str, Any]:
    return {
        "InstanceGroupName": name,
        "InstanceType": "ml.c5.4xlarge",
        "InstanceCount": 2,
        "ExecutionRole": of("RoleArn"),
        "LifeCycleConfig": _SCRIPTS,
        **more,
    }


def _body(*groups: dict[str, Any], **more: Any) -> Template:
    properties = {"VpcConfig": _VPC, "InstanceGroups": list(groups), **more}
    cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": properties}
    return template({"Other": _OTHER_GROUP, "Cluster": cluster})


pytestmark = pytest.mark.usefixtures("support")


# ---------------------------------------------------------------- what is kept
def test_every_property_of_a_group_is_kept(stacks: Stacks, aws: LocalAws) -> None:
    database = {
        "Endpoint": "db.example.com",
        "SecretArn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:x",
        "Port": 3306,
    }
    lustre = {"DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "MountName": "fsx", "MountPath": "/fsx"}
    update = {
        "ScheduleExpression": "cron(0 0 1 * ? *)",
        "DeploymentConfig": {"RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1}}},
    }
    workers = _group(
        MinInstanceCount=1,
        ThreadsPerCore=1,
        InstanceStorageConfigs=[{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}, {"FsxLustreConfig": lustre}],
        OverrideVpcConfig={"SecurityGroupIds": [of("Group")], "Subnets": [of("SubnetB")]},
        SlurmConfig={"NodeType": "Compute", "PartitionNames": ["train"]},
        ScheduledUpdateConfig=update,
        CapacityRequirements={"OnDemand": {}},
        NetworkInterface={"InterfaceType": "efa-only"},
        ImageId="ami-0123456789abcdef0",
    )
    controller = _group("controller", InstanceCount=1, SlurmConfig={"NodeType": "Controller"})
    name = stacks.deployed(
        _body(
            controller,
            workers,
            NodeRecovery="None",
            NodeProvisioningMode="Continuous",
            Orchestrator={"Slurm": {"AccountingDatabase": database}},
        )
    )
    found = aws.client("sagemaker").describe_cluster(ClusterName=stacks.physical_id(name, "Cluster"))
    assert (found["NodeRecovery"], found["NodeProvisioningMode"]) == ("None", "Continuous")
    assert found["Orchestrator"] == {"Slurm": {"AccountingDatabase": database}}
    kept = found["InstanceGroups"][1]
    assert (kept["MinCount"], kept["CurrentCount"], kept["TargetCount"], kept["ThreadsPerCore"]) == (1, 2, 2, 1)
    assert kept["InstanceStorageConfigs"][1] == {"FsxLustreConfig": lustre}
    assert kept["SlurmConfig"] == {"NodeType": "Compute", "PartitionNames": ["train"]}
    assert kept["ScheduledUpdateConfig"] == update
    assert kept["CapacityRequirements"] == {"OnDemand": {}}
    assert kept["NetworkInterface"] == {"InterfaceType": "efa-only"}
    assert kept["CurrentImageId"] == kept["DesiredImageId"] == "ami-0123456789abcdef0"


def test_nodes_have_ids_and_addresses_of_their_subnet(stacks: Stacks, aws: LocalAws) -> None:
    ec2, sagemaker = aws.client("ec2"), aws.client("sagemaker")
    exports = stacks.exports()

    def free() -> int:
        return int(ec2.describe_subnets(SubnetIds=[exports["SubnetB"]])["Subnets"][0]["AvailableIpAddressCount"])

    before = free()
    there = {"SecurityGroupIds": [of("Group")], "Subnets": [of("SubnetB")]}
    name = stacks.deployed(_body(_group(InstanceCount=3, OverrideVpcConfig=there)))
    cluster = stacks.physical_id(name, "Cluster")
    nodes = sagemaker.list_cluster_nodes(ClusterName=cluster)["ClusterNodeSummaries"]
    assert len({node["InstanceId"] for node in nodes}) == 3
    assert {node["InstanceStatus"]["Status"] for node in nodes} == {"Running"}
    details = sagemaker.describe_cluster_node(ClusterName=cluster, NodeId=nodes[0]["InstanceId"])["NodeDetails"]
    assert details["PrivatePrimaryIp"].startswith("10.0.")
    assert (
        details["PrivateDnsHostname"]
        == f"ip-{details['PrivatePrimaryIp'].replace('.', '-')}.us-west-2.compute.internal"
    )
    assert details["Placement"]["AvailabilityZone"] == "us-west-2b"
    assert details["LifeCycleConfig"]["OnCreate"] == "on_create.sh"
    assert free() == before - 3
    page = sagemaker.list_cluster_nodes(ClusterName=cluster, MaxResults=2)
    assert len(page["ClusterNodeSummaries"]) == 2
    rest = sagemaker.list_cluster_nodes(ClusterName=cluster, MaxResults=2, NextToken=page["NextToken"])
    assert [node["InstanceId"] for node in rest["ClusterNodeSummaries"]] == [nodes[2]["InstanceId"]]
    assert "NextToken" not in rest
    stacks.delete(name)
    assert free() == before


def test_no_two_nodes_have_one_address(stacks: Stacks, aws: LocalAws) -> None:
    there = {"SecurityGroupIds": [of("Group")], "Subnets": [of("SubnetB")]}
    name = stacks.deployed(_body(_group(InstanceCount=100, OverrideVpcConfig=there)))
    cluster = f"Created by SageMaker for cluster {stacks.physical_id(name, 'Cluster')}"
    filters = [{"Name": "description", "Values": [cluster]}]
    found = every(aws.client("ec2"), "describe_network_interfaces", Filters=filters)["NetworkInterfaces"]
    addresses = {ip_address(row["PrivateIpAddress"]) for row in found}
    subnet = aws.client("ec2").describe_subnets(SubnetIds=[stacks.exports()["SubnetB"]])["Subnets"][0]
    assert len(addresses) == 100
    assert addresses <= set(list(ip_network(subnet["CidrBlock"]).hosts())[3:]), (
        "the first are the router's, the name server's and kept back"
    )


def test_scaling_keeps_the_machines_that_are_there(stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.deployed(_body(_group("one"), _group("two")))
    cluster = stacks.physical_id(name, "Cluster")

    def nodes() -> dict[str, list[str]]:
        found = aws.client("sagemaker").list_cluster_nodes(ClusterName=cluster)["ClusterNodeSummaries"]
        groups = {node["InstanceGroupName"] for node in found}
        return {group: [row["InstanceId"] for row in found if row["InstanceGroupName"] == group] for group in groups}

    first = nodes()
    assert stacks.update(name, _body(_group("one", InstanceCount=4), _group("two"))) == "UPDATE_COMPLETE"
    grown = nodes()
    assert grown["one"][:2] == first["one"]
    assert len(grown["one"]) == 4
    assert grown["two"] == first["two"]
    assert stacks.update(name, _body(_group("one", InstanceCount=1))) == "UPDATE_COMPLETE"
    assert nodes() == {"one": first["one"][:1]}
    assert stacks.physical_id(name, "Cluster") == cluster


def test_a_change_of_the_network_replaces_the_cluster(stacks: Stacks) -> None:
    name = stacks.deployed(_body(_group()))
    cluster = stacks.physical_id(name, "Cluster")
    there = {"SecurityGroupIds": [of("Group")], "Subnets": [of("SubnetB")]}
    assert stacks.update(name, _body(_group(), VpcConfig=there)) == "UPDATE_COMPLETE"
    assert stacks.physical_id(name, "Cluster") != cluster


def test_clusters_can_be_listed_and_tagged(stacks: Stacks, aws: LocalAws) -> None:
    sagemaker = aws.client("sagemaker")
    name = stacks.deployed(_body(_group(InstanceCount=0), Tags=[{"Key": "a", "Value": "1"}]))
    arn = stacks.physical_id(name, "Cluster")
    assert arn in [row["ClusterArn"] for row in sagemaker.list_clusters()["ClusterSummaries"]]
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "a", "Value": "1"}]
    stacks.update(name, _body(_group(InstanceCount=0), Tags=[{"Key": "b", "Value": "2"}]))
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "b", "Value": "2"}]


def test_other_tags_of_sagemaker_are_left_to_moto(aws: LocalAws) -> None:
    sagemaker = aws.client("sagemaker")
    role = "arn:aws:iam::123456789012:role/x"
    arn = sagemaker.create_model(ModelName="m", ExecutionRoleArn=role)["ModelArn"]
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "a", "Value": "1"}])
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "a", "Value": "1"}]


# ---------------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            _body(_group(InstanceType="ml.inf2.xlarge")),
            "Value 'ml.inf2.xlarge' at 'instanceGroups.1.member.instanceType'",
        ),
        (_body(_group("under_score")), "Member must satisfy regular expression pattern"),
        (_body(_group(InstanceCount=6759)), "Member must have value less than or equal to 6758"),
        (_body(_group(), ClusterName="a" * 64), "Member must have length less than or equal to 63"),
        (_body(_group(), VpcConfig={**_VPC, "Subnets": ["subnet-00000000"]}), "subnet-00000000"),
        (_body(_group(), VpcConfig={**_VPC, "SecurityGroupIds": ["sg-00000000"]}), "sg-00000000"),
        (
            _body(_group(ExecutionRole="arn:aws:iam::123456789012:role/nobody")),
            "Could not assume the role arn:aws:iam::123456789012:role/nobody",
        ),
        (_body(_group("a"), _group("a")), "Instance group name a is used more than once."),
    ],
)
def test_fails_to_be_accepted(stacks: Stacks, body: Template, message: str) -> None:
    assert message in stacks.failure(body)


_PLAIN = {"InstanceGroupName": "g", "InstanceType": "ml.c5.xlarge", "InstanceCount": 1}
_CONTROLLER = {**_PLAIN, "InstanceGroupName": "c", "SlurmConfig": {"NodeType": "Controller"}}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"InstanceGroups": [{"InstanceGroupName": "g", "InstanceCount": 1}]},
            "Instance group g: exactly one of InstanceType and InstanceRequirements must be set.",
        ),
        (
            {"InstanceGroups": [{**_PLAIN, "MinInstanceCount": 2}], "NodeProvisioningMode": "Continuous"},
            "Instance group g: MinInstanceCount 2 is greater than InstanceCount 1.",
        ),
        (
            {"InstanceGroups": [{**_PLAIN, "MinInstanceCount": 1}]},
            "Instance group g: MinInstanceCount needs NodeProvisioningMode Continuous.",
        ),
        (
            {"InstanceGroups": [{**_PLAIN, "LifeCycleConfig": {}}]},
            "Instance group g: LifeCycleConfig for instance group is provided but contains no configuration.",
        ),
        (
            {"InstanceGroups": [{**_PLAIN, "LifeCycleConfig": {"OnCreate": "a", "OnInitComplete": "b"}}]},
            "Instance group g: OnCreate and OnInitComplete in LifeCycleConfig are mutually exclusive.",
        ),
        (
            {"InstanceGroups": [{**_PLAIN, "LifeCycleConfig": {"SourceS3Uri": "s3://b/p"}}]},
            (
                "Instance group g: LifeCycleConfig for instance group is incomplete: "
                "SourceS3Uri and one of OnCreate and OnInitComplete belong together."
            ),
        ),
        (
            {"InstanceGroups": [{**_PLAIN, "InstanceStorageConfigs": [{"FsxLustreConfig": {}}]}]},
            "FSx configurations are only supported for Custom VPC",
        ),
        (
            {
                "VpcConfig": {},
                "InstanceGroups": [{**_PLAIN, "InstanceStorageConfigs": [{"FsxLustreConfig": {}}] * 2}],
            },
            "Instance group g: only one FsxLustreConfig is allowed.",
        ),
        (
            {
                "InstanceGroups": [
                    {
                        **_PLAIN,
                        "InstanceStorageConfigs": [{"EbsVolumeConfig": {"RootVolume": True, "VolumeSizeInGB": 5}}],
                    }
                ]
            },
            "Instance group g: VolumeSizeInGB cannot be specified for the root volume.",
        ),
        (
            {"InstanceGroups": [_CONTROLLER, {**_CONTROLLER, "InstanceGroupName": "d"}]},
            "2 Controller Groups found: SlurmConfig for InstanceGroups may only have one Controller Group.",
        ),
        (
            {"ClusterName": "x", "InstanceGroups": [{**_PLAIN, "SlurmConfig": {"NodeType": "Compute"}}]},
            "Cluster x has no InstanceGroup with Controller node type.",
        ),
        (
            {
                "InstanceGroups": [
                    {**_PLAIN, "SlurmConfig": {"NodeType": "Controller", "PartitionNames": ["p"]}},
                ]
            },
            "Partitions can only be assigned to Compute node types",
        ),
        ({"Orchestrator": {}}, "Orchestrator must have exactly one of Eks and Slurm."),
        (
            {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Merge"}}, "NodeProvisioningMode": "Continuous"},
            "SlurmConfigStrategy cannot be specified with NodeProvisioningMode Continuous.",
        ),
        (
            {"Orchestrator": {"Slurm": {"AccountingDatabase": {}}}},
            "AccountingDatabase needs NodeProvisioningMode Continuous.",
        ),
    ],
)
def test_fails_rules(parameters: Any, message: str) -> None:
    assert refusals(parameters) == [message]


def test_a_sound_cluster_is_not_refused() -> None:
    compute = {**_PLAIN, "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["p"]}}
    assert refusals({"InstanceGroups": [_CONTROLLER, compute], "Orchestrator": {"Slurm": {}}}) == []


# ---------------------------------------------------------------- what fails while it is created
@pytest.mark.parametrize(
    ("group", "message"),
    [
        (
            _group(LifeCycleConfig={**_SCRIPTS, "OnCreate": "missing.sh"}),
            "Lifecycle scripts did not run successfully: s3://",
        ),
        (
            _group(LifeCycleConfig={"SourceS3Uri": "s3://no-such-bucket/scripts", "OnCreate": "on_create.sh"}),
            "s3://no-such-bucket/scripts/on_create.sh does not exist",
        ),
        (
            _group(
                InstanceType="ml.trn1.32xlarge",
                OverrideVpcConfig={"SecurityGroupIds": [{"Ref": "Other"}], "Subnets": [of("SubnetA")]},
            ),
            "EFA health checks did not run successfully.",
        ),
    ],
    ids=["no entry", "no bucket", "no self rules"],
)
def test_fails_to_come_up(stacks: Stacks, aws: LocalAws, group: dict[str, Any], message: str) -> None:
    reason = stacks.failure(_body(group))
    assert message in reason
    assert "is in Failed status" in reason
    failed = aws.client("sagemaker").list_clusters()["ClusterSummaries"]
    assert not [row for row in failed if row["ClusterStatus"] == "Failed"], "the rollback deletes it"


def test_an_empty_group_runs_no_scripts(stacks: Stacks) -> None:
    stacks.deployed(_body(_group(InstanceCount=0, LifeCycleConfig={**_SCRIPTS, "OnCreate": "missing.sh"})))


def test_fails_with_a_legacy_file_beside_slurm_config(stacks: Stacks, aws: LocalAws) -> None:
    bucket = stacks.exports()["Bucket"]
    for key in ("on_create.sh", "provisioning_parameters.json"):
        aws.client("s3").put_object(Bucket=bucket, Key=f"legacy/{key}", Body=b"{}")
    scripts = {"SourceS3Uri": f"s3://{bucket}/legacy", "OnCreate": "on_create.sh"}
    controller = _group("c", InstanceCount=1, LifeCycleConfig=scripts, SlurmConfig={"NodeType": "Controller"})
    assert "cannot include both a SLURM Orchestrator Config and a provisioning_parameters.json" in stacks.failure(
        _body(controller)
    )


def test_a_failed_update_returns_to_service(stacks: Stacks, aws: LocalAws) -> None:
    name = stacks.deployed(_body(_group()))
    cluster = stacks.physical_id(name, "Cluster")
    bad = _group(InstanceCount=4, LifeCycleConfig={**_SCRIPTS, "OnCreate": "missing.sh"})
    assert stacks.update(name, _body(bad)) == "UPDATE_ROLLBACK_COMPLETE"
    found = aws.client("sagemaker").describe_cluster(ClusterName=cluster)
    assert found["ClusterStatus"] == "InService"
    assert found["InstanceGroups"][0]["CurrentCount"] == 2


def test_efa_is_known_by_type() -> None:
    assert has_efa("ml.trn1.32xlarge")
    assert has_efa("ml.p5.48xlarge")
    assert not has_efa("ml.m5.large")
    assert not has_efa("ml.unheard.of")


def test_fails_on_what_is_not_there(aws: LocalAws) -> None:
    sagemaker = aws.client("sagemaker")
    for call in (sagemaker.describe_cluster, sagemaker.delete_cluster, sagemaker.list_cluster_nodes):
        with pytest.raises(ClientError, match="Cluster with name nobody could not be found"):
            call(ClusterName="nobody")
