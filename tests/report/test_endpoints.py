"""Endpoints that services run: what the property of each type says of the internet, and what it says by default."""

from typing import Any

import pytest

from cdk_trainyard.report import review
from cdk_trainyard.report.network import Network
from cdk_trainyard.report.openings import openings

HTTPS = "TCP 443 (HTTPS)"
BY_DEFAULT = "has a public endpoint by default"
PUBLIC = "has a public endpoint"


def whys(graph: Any, kind: str, **properties: Any) -> list[str]:
    found = openings(Network(graph(S={"One": {"Type": f"AWS::{kind}", "Properties": properties}})))
    return [each.why for each in found]


@pytest.mark.parametrize(
    ("kind", "properties", "why"),
    [
        ("Amplify::Branch", {}, PUBLIC),
        ("AmazonMQ::Broker", {}, ""),
        ("AmazonMQ::Broker", {"PubliclyAccessible": True}, PUBLIC),
        ("AppRunner::Service", {}, BY_DEFAULT),
        ("AppRunner::Service", {"NetworkConfiguration": {"IngressConfiguration": {"IsPubliclyAccessible": False}}}, ""),
        ("AppRunner::Service", {"NetworkConfiguration": "odd"}, BY_DEFAULT),
        ("AppSync::GraphQLApi", {}, BY_DEFAULT),
        ("AppSync::GraphQLApi", {"Visibility": "PRIVATE"}, ""),
        ("Cognito::UserPoolDomain", {}, PUBLIC),
        ("DMS::ReplicationInstance", {}, BY_DEFAULT),
        ("DMS::ReplicationInstance", {"PubliclyAccessible": "false"}, ""),
        ("EC2::ClientVpnEndpoint", {}, PUBLIC),
        ("ECR::PublicRepository", {}, PUBLIC),
        ("Elasticsearch::Domain", {}, BY_DEFAULT),
        ("GlobalAccelerator::Accelerator", {}, PUBLIC),
        ("Grafana::Workspace", {}, BY_DEFAULT),
        ("Grafana::Workspace", {"NetworkAccessControl": {"VpceIds": ["vpce-1"]}}, ""),
        (
            "Lambda::Permission",
            {"Principal": "*", "Action": "lambda:InvokeFunction"},
            "its permission is for everybody",
        ),
        ("Lambda::Permission", {"Principal": "*", "SourceAccount": "111111111111"}, ""),
        ("Lambda::Permission", {"Principal": "s3.amazonaws.com"}, ""),
        ("Lambda::LayerVersionPermission", {"Principal": "*"}, "its permission is for everybody"),
        ("Lightsail::Instance", {}, PUBLIC),
        ("MSK::Cluster", {}, ""),
        (
            "MSK::Cluster",
            {"BrokerNodeGroupInfo": {"ConnectivityInfo": {"PublicAccess": {"Type": "SERVICE_PROVIDED_EIPS"}}}},
            PUBLIC,
        ),
        ("MWAA::Environment", {"WebserverAccessMode": "PRIVATE_ONLY"}, ""),
        ("MWAA::Environment", {"WebserverAccessMode": "PUBLIC_ONLY"}, PUBLIC),
        ("NeptuneGraph::Graph", {"PublicConnectivity": True}, PUBLIC),
        ("OpenSearchServerless::SecurityPolicy", {"Policy": '[{"AllowFromPublic": false}]'}, ""),
        (
            "OpenSearchServerless::SecurityPolicy",
            {"Policy": '[{"AllowFromPublic": true}]'},
            "lets the internet reach collections",
        ),
        ("OpenSearchService::Domain", {}, BY_DEFAULT),
        ("OpenSearchService::Domain", {"VPCOptions": {"SubnetIds": ["subnet-1"]}}, ""),
        ("RDS::DBInstance", {}, "has a public endpoint where the default VPC has an internet gateway"),
        ("RDS::DBInstance", {"DBSubnetGroupName": "own"}, ""),
        ("Redshift::Cluster", {}, ""),
        ("Redshift::Cluster", {"PubliclyAccessible": "true"}, PUBLIC),
        ("RedshiftServerless::Workgroup", {"PubliclyAccessible": True}, PUBLIC),
        ("Transfer::Server", {}, BY_DEFAULT),
        ("Transfer::Server", {"EndpointType": "VPC"}, ""),
        (
            "Transfer::Server",
            {"EndpointType": "VPC", "EndpointDetails": {"AddressAllocationIds": ["eipalloc-1"]}},
            "has Elastic IP addresses",
        ),
    ],
)
def test_what_a_type_says_of_the_internet(graph: Any, kind: str, properties: dict[str, Any], why: str) -> None:
    assert whys(graph, kind, **properties) == [why] * bool(why)


def test_what_a_parameter_decides_may_be_public(graph: Any) -> None:
    template = {
        "Parameters": {"Open": {"Type": "String"}},
        "Resources": {"Db": {"Type": "AWS::Redshift::Cluster", "Properties": {"PubliclyAccessible": {"Ref": "Open"}}}},
    }
    (found,) = openings(Network(graph(S=template)))
    assert (found.ports, found.why) == ("its ports", "may have, by <parameter Open>, a public endpoint")


def test_types_of_which_nothing_is_known_are_named(assembly: Any) -> None:
    kinds = ("Braket::Thing", "S3::Bucket", "EC2::InstanceConnectEndpoint", "Lightsail::Instance")
    found = review(assembly(S={f"R{number}": {"Type": f"AWS::{kind}"} for number, kind in enumerate(kinds)}))
    said = [each for each in found["not_checked"] if "AWS::" in each]
    assert said == ["ways in by types that are not known here: AWS::Braket::Thing, AWS::EC2::InstanceConnectEndpoint"]
