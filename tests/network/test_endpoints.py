"""Ways to AWS services without the internet."""

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from cdk_trainyard.network import HYPERPOD_ENDPOINTS, Endpoint, Nat
from cdk_trainyard.network import endpoints as endpoints_module
from cdk_trainyard.network.bucket_policy import aws_buckets
from tests.network.parts import REGION, new_network, new_stack, resources
from tools import generate_endpoints

KIND = "AWS::EC2::VPCEndpoint"
DATA = Path(endpoints_module.__file__).parent / "data"


def endpoints(stack: Any, service: str) -> list[dict[str, Any]]:
    return [
        each for each in resources(stack, KIND).values() if str(stack.resolve(each["ServiceName"])).find(service) > 0
    ]


def statements(endpoint: dict[str, Any]) -> dict[str, Any]:
    return {statement["Sid"]: statement for statement in endpoint["PolicyDocument"]["Statement"]}


def test_s3_is_reached_from_every_subnet_by_principals_of_this_account() -> None:
    stack = new_stack()
    new_network(stack, service_zones=["us-east-1b", "us-east-1c"])
    (endpoint,) = resources(stack, KIND).values()
    assert endpoint["VpcEndpointType"] == "Gateway"
    assert len(endpoint["RouteTableIds"]) == 4
    assert statements(endpoint)["ThisAccount"] == {
        "Sid": "ThisAccount",
        "Effect": "Allow",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": "*",
        "Condition": {"StringEquals": {"aws:PrincipalAccount": {"Ref": "AWS::AccountId"}}},
    }


def test_packages_image_layers_and_answers_to_cloudformation_pass_without_the_accounts_credentials() -> None:
    stack = new_stack()
    new_network(stack)
    (endpoint,) = resources(stack, KIND).values()
    found = statements(endpoint)
    assert sorted(found) == ["AwsPackagesAndImages", "CloudFormationAnswers", "ThisAccount"]
    assert found["AwsPackagesAndImages"]["Action"] == "s3:GetObject"
    assert found["CloudFormationAnswers"]["Action"] == "s3:PutObject"
    names = [
        arn["Fn::Join"][1][2].removeprefix(":s3:::")
        for sid in ("AwsPackagesAndImages", "CloudFormationAnswers")
        for arn in found[sid]["Resource"]
    ]
    assert f"al2023-repos-{REGION}-de612dc2/*" in names
    assert f"prod-{REGION}-starport-layer-bucket/*" in names
    assert "cloudformation-custom-resource-response-useast1/*" in names
    assert len(names) == len(aws_buckets())


def test_no_statement_lets_everybody_do_everything() -> None:
    stack = new_stack()
    new_network(stack, interface_endpoints=[Endpoint.DYNAMODB])
    for endpoint in resources(stack, KIND).values():
        for statement in endpoint["PolicyDocument"]["Statement"]:
            assert statement["Resource"] != "*" or "Condition" in statement


def test_a_stack_without_a_region_asks_for_it_at_deployment() -> None:
    stack = new_stack(None)
    new_network(stack)
    (endpoint,) = resources(stack, KIND).values()
    text = str(statements(endpoint)["CloudFormationAnswers"]["Resource"])
    assert "{'Ref': 'AWS::Region'}" in text
    assert "Fn::Split" in text


def test_own_statements_take_the_place_of_the_accounts() -> None:
    stack = new_stack()
    own = iam.PolicyStatement(
        sid="Own", principals=[iam.StarPrincipal()], actions=["s3:GetObject"], resources=["arn:aws:s3:::mine/*"]
    )
    network = new_network(stack, s3_statements=[own])
    network.s3_endpoint.add_to_policy(
        iam.PolicyStatement(sid="Later", principals=[iam.StarPrincipal()], actions=["s3:ListBucket"], resources=["*"])
    )
    (endpoint,) = resources(stack, KIND).values()
    assert list(statements(endpoint)) == ["Own", "AwsPackagesAndImages", "CloudFormationAnswers", "Later"]


def test_dynamodb_is_a_gateway_too() -> None:
    stack = new_stack()
    new_network(stack, interface_endpoints=[Endpoint.DYNAMODB])
    (endpoint,) = endpoints(stack, "dynamodb")
    assert endpoint["VpcEndpointType"] == "Gateway"
    assert statements(endpoint)["ThisAccount"]["Action"] == "dynamodb:*"
    assert resources(stack, "AWS::EC2::SecurityGroup") == {}


@pytest.mark.parametrize("endpoint", [each for each in Endpoint if each is not Endpoint.DYNAMODB])
def test_every_service_has_its_interface_endpoint(endpoint: Endpoint) -> None:
    stack = new_stack()
    new_network(stack, interface_endpoints=[endpoint])
    (found,) = [each for each in resources(stack, KIND).values() if each["VpcEndpointType"] == "Interface"]
    assert found["ServiceName"] == f"com.amazonaws.{REGION}.{endpoint}"
    assert found["PrivateDnsEnabled"] is True


def test_interface_endpoints_take_https_from_the_vpc_alone() -> None:
    stack = new_stack()
    new_network(stack, secondary_cidr="100.64.0.0/16", interface_endpoints=HYPERPOD_ENDPOINTS)
    (group,) = resources(stack, "AWS::EC2::SecurityGroup").values()
    assert [(rule["CidrIp"], rule["FromPort"], rule["ToPort"]) for rule in group["SecurityGroupIngress"]] == [
        ("10.1.0.0/16", 443, 443),
        ("100.64.0.0/16", 443, 443),
    ]
    assert [rule["CidrIp"] for rule in group["SecurityGroupEgress"]] == ["255.255.255.255/32"]
    assert len(resources(stack, KIND)) == 1 + len(HYPERPOD_ENDPOINTS)


@pytest.mark.parametrize("zones", [("us-east-1a", "us-east-1b", "us-east-1c"), ("use1-az1", "use1-az2", "use1-az3")])
def test_interface_endpoints_stand_once_in_every_zone_and_spare_the_accelerators_addresses(
    zones: tuple[str, str, str],
) -> None:
    stack = new_stack()
    network = new_network(stack, zone=zones[0], service_zones=zones[:2], interface_endpoints=[Endpoint.SSM])
    (endpoint,) = endpoints(stack, "ssm")
    assert endpoint["SubnetIds"] == [stack.resolve(subnet.subnet_id) for subnet in network.service_subnets]
    assert network.endpoint_addresses == 0


@pytest.mark.parametrize(
    "zones", [("us-east-1-bos-1a", "us-east-1b", "us-east-1c"), ("use1-bos1-az1", "use1-az2", "use1-az3")]
)
def test_beside_a_local_zone_interface_endpoints_stand_in_the_service_subnets_alone(zones: tuple[str, ...]) -> None:
    stack = new_stack()
    network = new_network(stack, zone=zones[0], service_zones=zones[1:], interface_endpoints=[Endpoint.SSM])
    (endpoint,) = endpoints(stack, "ssm")
    assert endpoint["SubnetIds"] == [stack.resolve(subnet.subnet_id) for subnet in network.service_subnets]
    assert network.endpoint_addresses == 0


def test_without_service_subnets_interface_endpoints_stand_beside_the_accelerators() -> None:
    stack = new_stack()
    network = new_network(stack, interface_endpoints=[Endpoint.SSM], nat=Nat.NONE)
    (endpoint,) = endpoints(stack, "ssm")
    assert endpoint["SubnetIds"] == [stack.resolve(network.accelerator_subnet.subnet_id)]
    assert network.endpoint_addresses == 1


def test_every_bucket_says_what_it_is_for() -> None:
    assert all(bucket["purpose"] and bucket["action"] in {"s3:GetObject", "s3:PutObject"} for bucket in aws_buckets())
    assert len({bucket["name"] for bucket in aws_buckets()}) == len(aws_buckets())


def test_every_bucket_of_the_published_list_passes_or_is_left_out_for_a_reason() -> None:
    """AWS's list has a date: when it grows, whoever copies it here has to say of each bucket what becomes of it."""
    published = json.loads((Path(__file__).parent / "data" / "aws_owned_buckets.json").read_text())
    ours = json.loads((DATA / "aws_buckets.json").read_text())
    placeholders = {"{region}": "<region>", "{region_without_dashes}": "<RegionWithoutDashes>"}
    passing = set()
    for bucket in ours["buckets"]:
        name = bucket["name"]
        for own, theirs in placeholders.items():
            name = name.replace(own, theirs)
        passing.add(f"{name}/{bucket.get('prefix', '')}*")
    left_out = [name for row in ours["left_out"] for name in row["names"]]
    missing = [
        resource
        for resource in published["resources"]
        if resource not in passing and resource.partition("/")[0] not in left_out
    ]
    assert missing == []
    assert all(row["why"] for row in ours["left_out"])
    assert set(left_out) <= {resource.partition("/")[0] for resource in published["resources"]}
    assert published["commit"][:7] in ours["source"]
    assert published["date"] in ours["source"]


@pytest.mark.parametrize(
    "resource",
    [
        "ec2imagebuilder-toe-us-east-1-prod/*",
        "ec2imagebuilder-managed-resources-us-east-1-prod/components/*",
        "prod-registry-k8s-io-us-east-1/*",
        "mountpoint-s3-release/*",
        "docker-images-prod/*",
        "quayio-production-s3/*",
    ],
)
def test_unsigned_downloads_of_builds_images_and_tools_pass(resource: str) -> None:
    stack = new_stack()
    new_network(stack)
    (endpoint,) = resources(stack, KIND).values()
    found = statements(endpoint)["AwsPackagesAndImages"]
    assert "Condition" not in found
    assert f":s3:::{resource}" in [arn["Fn::Join"][1][2] for arn in found["Resource"]]


def test_public_buckets_may_be_listed_and_read_by_everybody_and_no_others() -> None:
    stack = new_stack()
    new_network(stack, public_buckets=["open-data"])
    (endpoint,) = resources(stack, KIND).values()
    found = statements(endpoint)["PublicBuckets"]
    assert found["Action"] == ["s3:GetObject", "s3:ListBucket"]
    assert found["Principal"] == "*"
    assert [arn["Fn::Join"][1][2] for arn in found["Resource"]] == [":s3:::open-data", ":s3:::open-data/*"]
    assert "Condition" not in found


def test_the_gateway_in_an_existing_vpc_is_somebody_elses() -> None:
    stack = new_stack()
    network = new_network(stack)
    network.vpc.add_gateway_endpoint("DynamoDb", service=ec2.GatewayVpcEndpointAwsService.DYNAMODB)
    (endpoint,) = endpoints(stack, "dynamodb")
    tables = {table["Ref"] for table in endpoint["RouteTableIds"]}
    assert stack.resolve(network.accelerator_subnet.route_table.route_table_id)["Ref"] in tables


def test_the_names_of_other_services_are_generated() -> None:
    assert generate_endpoints.OUTPUT.read_text() == generate_endpoints.text()
