"""The VPC as CDK's own constructs take it."""

import pytest
from aws_cdk import CfnResource, Stack, Tags
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_rds as rds
from aws_cdk.assertions import Template

from cdk_trainyard.errors import ConfigurationError
from cdk_trainyard.network import Nat, TrainingNetwork
from tests.network.parts import new_network, resources

Type = ec2.SubnetType
NAMES = {"zone": "us-east-1a", "public_zones": ["us-east-1b"], "service_zones": ["us-east-1a", "us-east-1c"]}
IDS = {"zone": "use1-az1", "public_zones": ["use1-az2"], "service_zones": ["use1-az1", "use1-az3"]}


@pytest.fixture(params=[NAMES, IDS], ids=["names", "ids"])
def network(request: pytest.FixtureRequest) -> TrainingNetwork:
    return new_network(flow_logs_retention=None, restrict_default_security_group=False, **request.param)


@pytest.fixture
def stack(network: TrainingNetwork) -> Stack:
    return Stack.of(network)


def paths(subnets: list[ec2.ISubnet]) -> list[str]:
    return [subnet.node.path.removeprefix("Stack/Network/") for subnet in subnets]


def test_it_has_the_subnets(network: TrainingNetwork) -> None:
    vpc = network.vpc
    assert vpc.private_subnets == [*network.service_subnets, network.accelerator_subnet]
    assert vpc.public_subnets == list(network.public_subnets)
    assert vpc.isolated_subnets == []
    assert len(vpc.availability_zones) == 3
    assert vpc.vpc_cidr_block == "10.1.0.0/16"
    assert vpc.vpn_gateway_id is None


def test_it_knows_its_own_name(network: TrainingNetwork, stack: Stack) -> None:
    (name,) = resources(stack, "AWS::EC2::VPC")
    assert stack.resolve(network.vpc.vpc_id) == {"Ref": name}
    assert stack.resolve(network.vpc.vpc_ref.vpc_id) == {"Ref": name}
    assert stack.resolve(network.vpc.vpc_arn)["Fn::Join"][1][-1] == {"Ref": name}


def test_without_nat_the_private_subnets_are_isolated() -> None:
    network = new_network(nat=Nat.NONE)
    assert network.vpc.private_subnets == []
    assert network.vpc.isolated_subnets == [network.accelerator_subnet]
    assert network.vpc.select_subnets().subnets == [network.accelerator_subnet]


def test_selections_do_what_those_of_any_vpc_do(network: TrainingNetwork) -> None:
    service, accelerator, public = network.service_subnets, network.accelerator_subnet, network.public_subnets
    select = network.vpc.select_subnets
    assert select().subnets == [*service, accelerator]
    assert select(subnet_type=Type.PRIVATE_WITH_EGRESS).subnets == [*service, accelerator]
    assert select(subnet_type=Type.PUBLIC).subnets == list(public)
    assert select(subnet_type=Type.PUBLIC).has_public
    assert not select().has_public
    assert select(subnet_group_name="Accelerator").subnets == [accelerator]
    assert select(subnet_group_name="Service").subnet_ids == [subnet.subnet_id for subnet in service]
    assert select(subnets=[accelerator]).subnets == [accelerator]
    assert select(one_per_az=True).subnets == list(service)
    zone = accelerator.availability_zone
    assert select(availability_zones=[zone]).subnets == [service[0], accelerator]
    assert select(subnet_filters=[ec2.SubnetFilter.by_ids([accelerator.subnet_id])]).subnets == [accelerator]


def test_fails_on_selections_of_what_there_is_not(network: TrainingNetwork) -> None:
    refused = {
        "'subnet_group_name' must be one of Service, Accelerator, Public, got 'Accelerators'; "
        "did you mean 'Accelerator'?": {"subnet_group_name": "Accelerators"},
        "'subnet_type' must be one of PRIVATE_WITH_EGRESS, PUBLIC in this network, got PRIVATE_ISOLATED": {
            "subnet_type": Type.PRIVATE_ISOLATED
        },
        "'subnets', 'subnet_type' and 'subnet_group_name' must each be given alone; keep one of them": {
            "subnet_type": Type.PUBLIC,
            "subnet_group_name": "Public",
        },
    }
    for problem, selection in refused.items():
        with pytest.raises(ConfigurationError) as caught:
            network.vpc.select_subnets(**selection)
        assert caught.value.problems == (problem,)
        assert caught.value.path == "Stack/Network/Vpc"


def test_cdks_own_constructs_take_it(network: TrainingNetwork, stack: Stack) -> None:
    vpc = network.vpc
    instance = ec2.Instance(
        stack,
        "Instance",
        vpc=vpc,
        vpc_subnets=ec2.SubnetSelection(subnet_group_name="Accelerator"),
        instance_type=ec2.InstanceType("c5n.18xlarge"),
        machine_image=ec2.MachineImage.latest_amazon_linux2023(),
    )
    function = lambda_.Function(
        stack,
        "Function",
        vpc=vpc,
        vpc_subnets=ec2.SubnetSelection(subnet_group_name="Service"),
        code=lambda_.Code.from_inline("def handler(event, context): pass"),
        handler="index.handler",
        runtime=lambda_.Runtime.PYTHON_3_13,
    )
    selected = ec2.SubnetSelection(subnets=list(network.service_subnets))
    rds.SubnetGroup(stack, "Database", vpc=vpc, vpc_subnets=selected, description="x")
    balancer = elb.ApplicationLoadBalancer(
        stack, "Balancer", vpc=vpc, vpc_subnets=ec2.SubnetSelection(one_per_az=True, subnet_group_name="Service")
    )
    ecs.Cluster(stack, "Containers", vpc=vpc)
    instance.connections.allow_from(function, ec2.Port.tcp(22))
    balancer.connections.allow_from(instance, ec2.Port.tcp(443))
    service = [stack.resolve(subnet.subnet_id) for subnet in network.service_subnets]
    (launched,) = resources(stack, "AWS::EC2::Instance").values()
    assert launched["SubnetId"] == stack.resolve(network.accelerator_subnet.subnet_id)
    (deployed,) = [f for f in resources(stack, "AWS::Lambda::Function").values() if "VpcConfig" in f]
    assert deployed["VpcConfig"]["SubnetIds"] == service
    (group,) = resources(stack, "AWS::RDS::DBSubnetGroup").values()
    assert group["SubnetIds"] == service
    (balanced,) = resources(stack, "AWS::ElasticLoadBalancingV2::LoadBalancer").values()
    assert balanced["Subnets"] == service


def test_a_public_load_balancer_waits_for_the_routes(network: TrainingNetwork, stack: Stack) -> None:
    elb.ApplicationLoadBalancer(stack, "Balancer", vpc=network.vpc, internet_facing=True)
    (balancer,) = Template.from_stack(stack).find_resources("AWS::ElasticLoadBalancingV2::LoadBalancer").values()
    assert len([name for name in balancer["DependsOn"] if "DefaultRoute" in name]) == 2


def test_another_stack_takes_it(network: TrainingNetwork, stack: Stack) -> None:
    other = Stack(stack.node.scope, "Other", env={"region": "us-east-1"})
    ec2.SecurityGroup(other, "Group", vpc=network.vpc)
    waiting = CfnResource(other, "Waiting", type="AWS::X::Y")
    waiting.node.add_dependency(network.route_out)
    Template.from_stack(other)
    assert [each.node.path for each in other.dependencies] == ["Stack"]


def test_endpoints_and_flow_logs_can_be_added(network: TrainingNetwork, stack: Stack) -> None:
    network.vpc.add_gateway_endpoint("DynamoDb", service=ec2.GatewayVpcEndpointAwsService.DYNAMODB)
    network.vpc.add_interface_endpoint("Kms", service=ec2.InterfaceVpcEndpointAwsService.KMS)
    network.vpc.add_flow_log("Rejected", traffic_type=ec2.FlowLogTrafficType.REJECT)
    kinds = [endpoint["VpcEndpointType"] for endpoint in resources(stack, "AWS::EC2::VPCEndpoint").values()]
    assert sorted(kinds) == ["Gateway", "Gateway", "Interface"]
    assert [log["TrafficType"] for log in resources(stack, "AWS::EC2::FlowLog").values()] == ["REJECT"]


def test_a_vpn_can_be_added(network: TrainingNetwork, stack: Stack) -> None:
    network.vpc.add_vpn_connection("Office", ip="203.0.113.1", asn=65000)
    network.vpc.add_client_vpn_endpoint(
        "Laptops",
        cidr="172.20.0.0/16",
        server_certificate_arn="arn:aws:acm:us-east-1:111111111111:certificate/server",
        client_certificate_arn="arn:aws:acm:us-east-1:111111111111:certificate/client",
        vpc_subnets=ec2.SubnetSelection(subnet_group_name="Service"),
    )
    (propagation,) = Template.from_stack(stack).find_resources("AWS::EC2::VPNGatewayRoutePropagation").values()
    assert len(propagation["Properties"]["RouteTableIds"]) == 3
    assert any("VpnGatewayAttachment" in name for name in propagation["DependsOn"])
    assert network.vpc.vpn_gateway_id is not None
    assert len(resources(stack, "AWS::EC2::VPNConnection")) == 1
    assert len(resources(stack, "AWS::EC2::ClientVpnTargetNetworkAssociation")) == 2


def test_vpn_routes_go_to_the_selected_subnets(network: TrainingNetwork, stack: Stack) -> None:
    network.vpc.enable_vpn_gateway(
        type="ipsec.1", vpn_route_propagation=[ec2.SubnetSelection(subnet_group_name="Accelerator")]
    )
    (propagation,) = resources(stack, "AWS::EC2::VPNGatewayRoutePropagation").values()
    table = network.accelerator_subnet.route_table.route_table_id
    assert propagation["RouteTableIds"] == [stack.resolve(table)]


def test_subnets_are_tagged_for_lookups_of_other_apps(stack: Stack) -> None:
    tags = [
        {tag["Key"]: tag["Value"] for tag in subnet["Tags"]} for subnet in resources(stack, "AWS::EC2::Subnet").values()
    ]
    assert sorted({(tag["aws-cdk:subnet-name"], tag["aws-cdk:subnet-type"]) for tag in tags}) == [
        ("Accelerator", "Private"),
        ("Public", "Public"),
        ("Service", "Private"),
    ]
    assert {tag["Name"].split("/")[2] for tag in tags} == {"Accelerator", "Public", "Service"}


def test_its_tags_reach_what_those_of_any_vpc_reach(network: TrainingNetwork, stack: Stack) -> None:
    Tags.of(network.vpc).add("Owner", "vpc")
    Tags.of(stack).add("Owner", "stack")
    Tags.of(network.accelerator_subnet).add("Owner", "subnet")
    Tags.of(network.vpc).add("Only", "subnets", include_resource_types=["AWS::EC2::Subnet"])
    Tags.of(network.vpc).remove("aws-cdk:subnet-type")
    found = {
        (resource["Type"], name): {tag["Key"]: tag["Value"] for tag in resource["Properties"]["Tags"]}
        for name, resource in Template.from_stack(stack).to_json()["Resources"].items()
        if "Tags" in resource.get("Properties", {})
    }
    owners = {
        key: "stack" if kind == "AWS::EC2::VPCEndpoint" else "subnet" if "Accelerator" in name else "vpc"
        for key in found
        for kind, name in [key]
    }
    assert {key: tags["Owner"] for key, tags in found.items()} == owners
    assert {kind for (kind, _), owner in owners.items() if owner == "vpc"} == {
        *("AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::RouteTable", "AWS::EC2::InternetGateway"),
        *("AWS::EC2::EIP", "AWS::EC2::NatGateway"),
    }
    assert {kind for (kind, _), tags in found.items() if "Only" in tags} == {"AWS::EC2::Subnet"}
    assert [key for key, tags in found.items() if "aws-cdk:subnet-type" in tags] == []
