"""ParallelCluster's provider and its clusters: made, changed, refused, deleted."""

import json
from copy import deepcopy
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from tests.local.stacks import Stacks, outputs_of, template
from tests.local.support import of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("support")]
Config = dict[str, Any]

_ADDRESS = (
    "https://${AWS::Region}-aws-parallelcluster.s3.${AWS::Region}.${AWS::URLSuffix}"
    "/parallelcluster/%s/templates/custom_resource/cluster.yaml"
)
_ATTRIBUTES = (
    "headNode.instanceId",
    "headNode.privateIpAddress",
    "headNode.instanceType",
    "headNode.state",
    "clusterName",
    "clusterStatus",
    "computeFleetStatus",
    "cloudformationStackArn",
    "cloudFormationStackStatus",
    "version",
    "region",
    "creationTime",
    "validationMessages",
)
_HASH_OF_COMPUTE = "24989d8ee41c1575"
"""The first 16 digits of the SHA-1 of the queue's name, capitalized: so ParallelCluster names what is a queue's."""
_CONFIG: Config = {
    "Image": {"Os": "alinux2023"},
    "HeadNode": {
        "InstanceType": "c5.xlarge",
        "Networking": {"SubnetId": of("SubnetA"), "AdditionalSecurityGroups": [of("Group")]},
    },
    "Scheduling": {
        "Scheduler": "slurm",
        "SlurmQueues": [
            {
                "Name": "compute",
                "Networking": {"SubnetIds": [of("SubnetB")]},
                "ComputeResources": [{"Name": "cpu", "InstanceType": "c5.xlarge", "MinCount": 0, "MaxCount": 8}],
            }
        ],
    },
}


def _config(**changes: Any) -> Config:
    """Return a good configuration with changes; ``Queue__MaxCount`` and the like reach into it."""
    config = deepcopy(_CONFIG)
    places = {
        "Head": config["HeadNode"],
        "Networking": config["HeadNode"]["Networking"],
        "Compute": config["Scheduling"]["SlurmQueues"][0]["ComputeResources"][0],
        "Queue": config["Scheduling"]["SlurmQueues"][0],
    }
    for name, value in changes.items():
        place, _, key = name.rpartition("__")
        places.get(place, config)[key] = value
    return config


def _provider(version: str = "3.16.1", **properties: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::CloudFormation::Stack",
        "Properties": {"TemplateURL": {"Fn::Sub": _ADDRESS % version}, **properties},
    }


def _cluster(config: Config | None = None, *, name: str = "tried", **properties: Any) -> dict[str, Any]:
    return {
        "Type": "Custom::PclusterCluster",
        "Properties": {
            "ServiceToken": {"Fn::GetAtt": ["Provider", "Outputs.ServiceToken"]},
            "ClusterName": name,
            "ClusterConfiguration": config or _CONFIG,
            **properties,
        },
    }


def _stack(config: Config | None = None, *, attributes: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    outputs = {f"A{number}": {"Fn::GetAtt": ["Cluster", name]} for number, name in enumerate(attributes)}
    return template({"Provider": _provider(), "Cluster": _cluster(config, **more)}, Outputs=outputs_of(**outputs))


def _made(aws: LocalAws, name: str = "tried") -> Config | None:
    """Return the configuration of a cluster, as its own stack has it."""
    try:
        body = aws.client("cloudformation").get_template(StackName=name)["TemplateBody"]
    except ClientError:
        return None
    found: Config = (json.loads(body) if isinstance(body, str) else body)["Metadata"]["Config"]
    return found


def _reason(stacks: Stacks, name: str, logical_id: str = "Cluster") -> str:
    failed = [
        row["ResourceStatusReason"]
        for row in stacks.events(name)
        if row["LogicalResourceId"] == logical_id and row["ResourceStatus"].endswith("_FAILED")
    ]
    return str(failed[-1])


@pytest.fixture
def cluster(stacks: Stacks) -> str:
    """A stack with a provider and a cluster."""
    return stacks.deployed(_stack())


# ---------------------------------------------------------------- the provider
def test_the_provider_has_the_outputs_of_the_real_one(stacks: Stacks) -> None:
    names = ("ServiceToken", "LogGroupArn", "LambdaLayerArn")
    outputs = {name: {"Fn::GetAtt": ["Provider", f"Outputs.{name}"]} for name in names}
    parameters = {"AdditionalIamPolicies": "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"}
    stack = stacks.deployed(template({"Provider": _provider(Parameters=parameters)}, Outputs=outputs_of(**outputs)))
    found = stacks.outputs(stack)
    assert ":function:pcluster-cfn-" in found["ServiceToken"]
    assert ":log-group:/aws/lambda/pcluster-cfn-" in found["LogGroupArn"]
    assert ":layer:PCLayer-" in found["LambdaLayerArn"]
    assert stacks.delete(stack) == "DELETE_COMPLETE"


def test_a_role_of_yours(aws: LocalAws, stacks: Stacks) -> None:
    outputs = outputs_of(Token={"Fn::GetAtt": ["Provider", "Outputs.ServiceToken"]})
    body = template({"Provider": _provider(Parameters={"CustomLambdaRole": of("RoleArn")})}, Outputs=outputs)
    token = stacks.outputs(stacks.deployed(body))["Token"]
    assert ":role/support-Role-" in aws.client("lambda").get_function(FunctionName=token)["Configuration"]["Role"]


def test_no_other_address_is_taken_for_the_provider(stacks: Stacks) -> None:
    url = "https://example.s3.us-west-2.amazonaws.com/parallelcluster/3.16.1/templates/custom_resource/cluster.yaml"
    assert "S3 error" in stacks.failure(template({"Provider": _provider(TemplateURL=url)}))


# ---------------------------------------------------------------- clusters
def test_from_creation_to_deletion(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(_stack(attributes=_ATTRIBUTES), Tags=[{"Key": "project", "Value": "training"}])
    values = [stacks.outputs(stack)[f"A{number}"] for number in range(len(_ATTRIBUTES))]
    found = dict(zip(_ATTRIBUTES, values, strict=True))
    assert stacks.physical_id(stack, "Cluster") == "tried"
    assert found["clusterName"] == "tried"
    assert found["clusterStatus"] == "CREATE_COMPLETE"
    assert found["version"] == "3.16.1"
    assert found["validationMessages"] == "[]"
    (group,) = aws.client("ec2").describe_instances(InstanceIds=[found["headNode.instanceId"]])["Reservations"]
    (head,) = group["Instances"]
    assert head["PrivateIpAddress"] == found["headNode.privateIpAddress"]
    assert {"Key": "parallelcluster:node-type", "Value": "HeadNode"} in head["Tags"]
    made = aws.client("cloudformation").describe_stacks(StackName=found["cloudformationStackArn"])["Stacks"][0]
    assert made["StackName"] == "tried"
    assert {tag["Key"]: tag["Value"] for tag in made["Tags"]}["parallelcluster:version"] == "3.16.1"
    assert (_made(aws) or {})["Tags"] == [{"Key": "project", "Value": "training"}]
    assert stacks.delete(stack) == "DELETE_COMPLETE"
    assert _made(aws) is None
    (group,) = aws.client("ec2").describe_instances(InstanceIds=[found["headNode.instanceId"]])["Reservations"]
    assert group["Instances"][0]["State"]["Name"] == "terminated"


def _policies(aws: LocalAws, profile: str) -> dict[str, Any]:
    """Return the policies of an instance profile's role: documents by name, and ARNs of managed ones."""
    iam = aws.client("iam")
    (role,) = iam.get_instance_profile(InstanceProfileName=profile)["InstanceProfile"]["Roles"]
    name = role["RoleName"]
    inline = {
        key: iam.get_role_policy(RoleName=name, PolicyName=key)["PolicyDocument"]["Statement"]
        for key in iam.list_role_policies(RoleName=name)["PolicyNames"]
    }
    managed = [row["PolicyArn"] for row in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]]
    return {**inline, "managed": managed, "path": role["Path"]}


def test_nodes_have_the_roles_that_parallelcluster_makes(aws: LocalAws, stacks: Stacks) -> None:
    read_only = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
    access = [{"BucketName": "data", "KeyName": "in/*"}, {"BucketName": "out", "EnableWriteAccess": "true"}]
    queue_iam = {"AdditionalIamPolicies": [{"Policy": read_only}], "S3Access": access}
    stack = stacks.deployed(_stack(_config(Queue__Iam=queue_iam), attributes=("headNode.instanceId",)))
    (association,) = aws.client("ec2").describe_iam_instance_profile_associations(
        Filters=[{"Name": "instance-id", "Values": [stacks.outputs(stack)["A0"]]}]
    )["IamInstanceProfileAssociations"]
    head = _policies(aws, association["IamInstanceProfile"]["Arn"].rpartition("/")[2])
    assert head["path"] == "/parallelcluster/tried/"
    assert head["managed"] == ["arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"]
    assert "ec2:RunInstances" in str(head["parallelcluster"])
    assert "S3Access" not in head
    found = _policies(aws, stacks.physical_id("tried", "InstanceProfile" + _HASH_OF_COMPUTE))
    assert read_only in found["managed"]
    assert "ec2:RunInstances" not in str(found["parallelcluster"])
    read, write = found["S3Access"]
    assert (read["Action"], read["Resource"]) == (["s3:Get*", "s3:List*"], ["arn:aws:s3:::data/in/*"])
    assert (write["Action"], write["Resource"]) == (["s3:*"], ["arn:aws:s3:::out", "arn:aws:s3:::out/*"])


def test_nodes_have_roles_of_yours(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(
        _stack(
            _config(
                Head__Iam={"InstanceRole": of("RoleArn")},
                Queue__Iam={"InstanceProfile": "arn:aws:iam::111111111111:instance-profile/mine"},
            ),
            attributes=("headNode.instanceId",),
        )
    )
    rows = aws.client("cloudformation").describe_stack_resources(StackName="tried")["StackResources"]
    made = [row["LogicalResourceId"] for row in rows]
    assert sorted(name for name in made if "Role" in name or "Profile" in name) == ["InstanceProfileHeadNode"]
    assert stacks.status(stack) == "CREATE_COMPLETE"


def test_a_public_address_needs_an_elastic_ip(stacks: Stacks) -> None:
    attribute = ("headNode.publicIpAddress",)
    reason = "Vendor response doesn't contain headNode.publicIpAddress"
    stack = stacks.create(_stack(attributes=attribute))
    assert reason in str(stacks.events(stack))
    assert stacks.status(stack) == "ROLLBACK_COMPLETE"
    stack = stacks.deployed(_stack(_config(Networking__ElasticIp=True), attributes=attribute))
    assert stacks.outputs(stack)["A0"].count(".") == 3


def test_login_nodes_have_an_address(stacks: Stacks) -> None:
    pool = {"Name": "login", "InstanceType": "c5.xlarge", "Count": 2, "Networking": {"SubnetIds": [of("SubnetA")]}}
    config = _config(LoginNodes={"Pools": [pool]})
    stack = stacks.deployed(_stack(config, attributes=("loginNodes.0.address", "loginNodes.0.poolName")))
    assert ".elb." in stacks.outputs(stack)["A0"]
    assert stacks.outputs(stack)["A1"] == "login"


def test_a_cluster_that_is_retained_stays(aws: LocalAws, stacks: Stacks) -> None:
    stack = stacks.deployed(_stack(name="kept", DeletionPolicy="Retain"))
    assert stacks.delete(stack) == "DELETE_COMPLETE"
    assert _made(aws, "kept")
    aws.client("cloudformation").delete_stack(StackName="kept")


# ---------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (_config(Head__InstanceTyp="c5.xlarge"), "HeadNode: Additional properties are not allowed ('InstanceTyp'"),
        (_config(Image={}), "Image: 'Os' is a required property"),
        (_config(Compute__MaxCount="many"), "MaxCount: 'many' is not of type 'integer'"),
        (_config(Tags=[{"Key": "parallelcluster:x", "Value": "1"}]), "Tags.0.Key: 'parallelcluster:x' does not match"),
        (_config(Networking__SubnetId="subnet-00000000"), "subnet-00000000"),
        (_config(Networking__AdditionalSecurityGroups=["sg-00000000"]), "sg-00000000"),
        (
            _config(Head__CustomActions={"OnNodeConfigured": {"Script": "s3://nowhere/on_configured.sh"}}),
            "s3://nowhere/on_configured.sh",
        ),
    ],
)
def test_fails_with_a_configuration_that_parallelcluster_refuses(
    aws: LocalAws, stacks: Stacks, config: Config, problem: str
) -> None:
    reason = stacks.failure(_stack(config))
    assert "Invalid cluster configuration." in reason
    assert problem in reason
    assert _made(aws) is None


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        ({"ServiceTimeout": 3600}, "create_cluster() got an unexpected keyword argument 'service_timeout'"),
        ({"name": "1st"}, "The cluster name 1st must begin with a letter"),
        ({"config": "text"}, "configuration is required and cannot be empty"),
    ],
)
def test_fails_with_properties_that_the_provider_refuses(
    stacks: Stacks, properties: dict[str, Any], problem: str
) -> None:
    assert problem in stacks.failure(_stack(**properties))


def test_a_wrong_deletion_policy_can_be_neither_created_nor_rolled_back(stacks: Stacks) -> None:
    """As with the real provider, which reads the policy again when it deletes."""
    stack = stacks.create(_stack(DeletionPolicy="Snapshot"))
    assert 'DeletionPolicy must be one of ["Retain", "Delete"].' in _reason(stacks, stack)
    assert stacks.status(stack) == "ROLLBACK_FAILED"


def test_the_name_of_a_stack_is_taken(stacks: Stacks) -> None:
    name = stacks.name()
    stacks.create(_stack(name=name), name)
    assert f"Cluster {name} already exists." in _reason(stacks, name)
    assert stacks.status(name) == "ROLLBACK_COMPLETE"


@pytest.mark.usefixtures("cluster")
def test_a_second_cluster_of_a_name_is_refused_and_takes_the_first_with_it(aws: LocalAws, stacks: Stacks) -> None:
    """As with the real provider, which deletes by the name of the cluster."""
    assert "Cluster tried already exists." in stacks.failure(_stack())
    assert _made(aws) is None


# ---------------------------------------------------------------- updates
def test_an_update_in_place(aws: LocalAws, stacks: Stacks, cluster: str) -> None:
    head = stacks.physical_id("tried", "HeadNode")
    assert stacks.update(cluster, _stack(_config(Compute__MaxCount=16))) == "UPDATE_COMPLETE", stacks.reasons(cluster)
    made = _made(aws) or {}
    assert made["Scheduling"]["SlurmQueues"][0]["ComputeResources"][0]["MaxCount"] == "16"
    assert stacks.physical_id("tried", "HeadNode") == head


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (_stack(_config(Head__InstanceType="c5.2xlarge")), "'HeadNode.InstanceType' cannot be changed"),
        (_stack(_config(Networking__SubnetId=of("SubnetB"))), "'HeadNode.Networking.SubnetId' cannot be changed"),
        (_stack(_config(Compute__MaxCount=4)), "MaxCount' cannot be changed while compute nodes run"),
        (_stack(_config(Compute__MaxCont=16)), "properties are not allowed ('MaxCont' was unexpected)"),
        (_stack(name="renamed"), "Cannot update the ClusterName in the properties."),
        (_stack(RollbackOnFailure=False), "update_cluster() got an unexpected keyword argument 'rollback_on_failure'"),
    ],
)
def test_an_update_that_is_refused_is_rolled_back(
    aws: LocalAws, stacks: Stacks, cluster: str, changed: dict[str, Any], problem: str
) -> None:
    before = _made(aws)
    assert stacks.update(cluster, changed) == "UPDATE_ROLLBACK_COMPLETE", stacks.reasons(cluster)
    assert problem in _reason(stacks, cluster)
    assert _made(aws) == before


def test_a_provider_of_another_version_is_refused(aws: LocalAws, stacks: Stacks, cluster: str) -> None:
    in_place = {"Provider": _provider("3.15.0"), "Cluster": _cluster(_config(Compute__MaxCount=16))}
    assert stacks.update(cluster, template(in_place)) == "UPDATE_ROLLBACK_COMPLETE"
    assert "only with the same ParallelCluster version (3.16.1)" in _reason(stacks, cluster)
    second = _cluster(ServiceToken={"Fn::GetAtt": ["Second", "Outputs.ServiceToken"]})
    beside = {"Provider": _provider(), "Second": _provider("3.15.0"), "Cluster": second}
    assert stacks.update(cluster, template(beside)) == "UPDATE_ROLLBACK_COMPLETE"
    assert _reason(stacks, cluster) == "Modifying service token is not allowed."
    assert _made(aws)


def test_an_update_of_a_cluster_that_is_gone_is_refused(aws: LocalAws, stacks: Stacks, cluster: str) -> None:
    aws.client("cloudformation").delete_stack(StackName="tried")
    assert stacks.update(cluster, _stack(_config(Compute__MaxCount=16))) == "UPDATE_ROLLBACK_FAILED"
    assert "Cluster 'tried' does not exist" in _reason(stacks, cluster)
    assert stacks.delete(cluster) == "DELETE_COMPLETE"
