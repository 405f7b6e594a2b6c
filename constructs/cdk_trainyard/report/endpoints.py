"""Endpoints that services run, and which property of a resource puts them on the internet.

Sources: the documentation of these properties in the services' models (botocore) and in the AWS CloudFormation
Template Reference; Amazon RDS API Reference, "CreateDBInstance" (what is public without a subnet group); Amazon
OpenSearch Service Developer Guide, "Launching your Amazon OpenSearch Service domains within a VPC" and "Network access
for Amazon OpenSearch Serverless"; AWS Lambda Developer Guide, "Working with resource-based IAM policies in Lambda"
(read 2026-11).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cdk_trainyard.report.assembly import Resource
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.network import under

HTTPS: Final = "TCP 443 (HTTPS)"
_PORTS: Final = "its ports"
_GROUPS: Final = "whom its security groups let in"
_ANYBODY: Final = "anybody"
_FLAG: Final = "PubliclyAccessible"
"""The property that says it of any other type."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """What puts the endpoint of a type on the internet.

    Attributes:
        at: The property; none: it always is.
        public: The values that do, in small letters; none: that the property is not there.
        by_default: Whether it is without the property.
        ports: What is open.
        who: Who may come.
    """

    at: tuple[str, ...] = ()
    public: frozenset[str] = frozenset()
    by_default: bool = False
    ports: str = HTTPS
    who: str = _ANYBODY


_TRUE: Final = frozenset({"true"})
_SEARCH: Final = Endpoint(at=("VPCOptions",), by_default=True, who="whom its access policy lets in")
_ENDPOINTS: Final[Mapping[str, Endpoint]] = {
    "AWS::Amplify::Branch": Endpoint(),
    "AWS::AppRunner::Service": Endpoint(
        at=("NetworkConfiguration", "IngressConfiguration", "IsPubliclyAccessible"), public=_TRUE, by_default=True
    ),
    "AWS::AppSync::GraphQLApi": Endpoint(at=("Visibility",), public=frozenset({"global"}), by_default=True),
    "AWS::Cognito::UserPoolDomain": Endpoint(),
    "AWS::DMS::ReplicationInstance": Endpoint(
        at=("PubliclyAccessible",), public=_TRUE, by_default=True, ports=_PORTS, who=_GROUPS
    ),
    "AWS::EC2::ClientVpnEndpoint": Endpoint(ports="its VPN port"),
    "AWS::ECR::PublicRepository": Endpoint(),
    "AWS::Elasticsearch::Domain": _SEARCH,
    "AWS::GlobalAccelerator::Accelerator": Endpoint(ports="its listeners' ports"),
    "AWS::Grafana::Workspace": Endpoint(at=("NetworkAccessControl",), by_default=True, who="whoever signs in"),
    "AWS::AmazonMQ::Broker": Endpoint(at=("PubliclyAccessible",), public=_TRUE, ports=_PORTS, who="whoever signs in"),
    "AWS::Lightsail::Instance": Endpoint(ports=_PORTS),
    "AWS::MSK::Cluster": Endpoint(
        at=("BrokerNodeGroupInfo", "ConnectivityInfo", "PublicAccess", "Type"),
        public=frozenset({"service_provided_eips"}),
        ports=_PORTS,
        who=_GROUPS,
    ),
    "AWS::MWAA::Environment": Endpoint(
        at=("WebserverAccessMode",), public=frozenset({"public_only", "public_and_private"}), who="whoever signs in"
    ),
    "AWS::NeptuneGraph::Graph": Endpoint(at=("PublicConnectivity",), public=_TRUE, who="callers that sign with IAM"),
    "AWS::OpenSearchService::Domain": _SEARCH,
    "AWS::Transfer::Server": Endpoint(
        at=("EndpointType",), public=frozenset({"public"}), by_default=True, ports=_PORTS, who="whoever signs in"
    ),
}

_KNOWN: Final = {
    "ACMPCA", "APS", "AmazonMQ", "Amplify", "ApiGateway", "ApiGatewayV2", "AppConfig", "AppRunner", "AppSync",
    "ApplicationAutoScaling", "Athena", "AutoScaling", "Backup", "Batch", "Budgets", "CDK", "CertificateManager",
    "CloudFormation", "CloudFront", "CloudTrail", "CloudWatch", "CodeBuild", "CodeCommit", "CodeDeploy",
    "CodePipeline", "CodeStarConnections", "Cognito", "Config", "DAX", "DLM", "DMS", "DocDB", "DynamoDB", "EC2",
    "ECR", "ECS", "EFS", "EKS", "EMR", "ElastiCache", "ElasticLoadBalancing", "ElasticLoadBalancingV2",
    "Elasticsearch", "Events", "FSx", "GlobalAccelerator", "Glue", "Grafana", "GuardDuty", "IAM", "ImageBuilder",
    "InspectorV2", "KMS", "Kinesis", "KinesisFirehose", "Lambda", "Logs", "MSK", "MWAA", "MemoryDB", "Neptune",
    "NeptuneGraph", "OpenSearchServerless", "OpenSearchService", "Pipes", "RAM", "RDS", "Redshift",
    "RedshiftServerless", "ResourceGroups", "Route53", "Route53Resolver", "S3", "SNS", "SQS", "SSM", "SageMaker",
    "Scheduler", "SecretsManager", "SecurityHub", "ServiceCatalog", "ServiceDiscovery", "StepFunctions",
    "Timestream", "Transfer", "WAFv2", "XRay",
}  # fmt: skip
"""Services whose types are judged here or in the other modules of ways in, or have no endpoint of their own."""


_UNJUDGED: Final = {
    "AWS::Amplify::App", "AWS::Cognito::UserPool", "AWS::EC2::InstanceConnectEndpoint",
    "AWS::EC2::VerifiedAccessEndpoint", "AWS::EMR::Cluster", "AWS::SageMaker::Domain",
    "AWS::SageMaker::NotebookInstance",
}  # fmt: skip
"""Types of these services that could let somebody in, and are not judged."""


def unjudged(graph: Graph) -> list[str]:
    """Return the types in templates of which is not known here what the internet reaches.

    Args:
        graph: The resources.
    """
    types = {each.type for each in graph.resources.values() if each.type.startswith("AWS::")}
    judged = {kind for kind in types if kind in _ENDPOINTS or kind.split("::")[1] in _KNOWN} - _UNJUDGED
    return sorted(types - judged)


def endpoints(graph: Graph, resource: Resource) -> Iterator[tuple[str, str, str]]:
    """Yield what the internet reaches of a resource by its own settings: ports, who may come, and why.

    Args:
        graph: The resources.
        resource: The resource.
    """
    properties = graph.properties(resource)
    row = _ENDPOINTS.get(resource.type)
    if row is not None:
        if why := _why(graph, properties, row):
            yield row.ports, row.who, why
    elif resource.type.startswith("AWS::"):
        for value in under(properties, {_FLAG}):
            if why := _said(graph, value, _TRUE):
                yield _PORTS, _GROUPS, why
    if own := _OWN.get(resource.type):
        yield from own(graph, properties)


def _why(graph: Graph, properties: Mapping[str, Any], row: Endpoint) -> str:
    value: Any = properties
    for name in row.at:
        value = value.get(name) if isinstance(value, Mapping) else None
    if not row.at:
        return "has a public endpoint"
    if value is None:
        return "has a public endpoint by default" if row.by_default else ""
    return _said(graph, value, row.public)


def _said(graph: Graph, value: Any, public: frozenset[str]) -> str:
    """Return why a value makes a resource public; what deployment decides, may."""
    if str(value).lower() in public:
        return "has a public endpoint"
    if public and (isinstance(value, Mapping) or graph.said(value) != str(value)):
        return f"may have, by {graph.said(value)}, a public endpoint"
    return ""


def _database(_graph: Graph, properties: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """A DB instance that says nothing and has no subnet group stands in the default VPC, whose subnets are public."""
    placed = {"PubliclyAccessible", "DBSubnetGroupName", "DBClusterIdentifier", "SourceDBInstanceIdentifier"}
    if not placed & {*properties}:
        yield _PORTS, _GROUPS, "has a public endpoint where the default VPC has an internet gateway"


def _collection(graph: Graph, properties: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """A network policy of OpenSearch Serverless is JSON in a string."""
    if "".join(graph.said(properties.get("Policy", "")).split()).find('"AllowFromPublic":true') >= 0:
        yield HTTPS, "whom data access policies let in", "lets the internet reach collections"


def _server(_graph: Graph, properties: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """A server in a VPC is on the internet by Elastic IP addresses."""
    if [*under(properties, {"AddressAllocationIds"})]:
        yield _PORTS, "whoever signs in", "has Elastic IP addresses"


def _permission(graph: Graph, properties: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """A permission whose principal is everybody; those of function URLs are told of the URL."""
    narrowed = {"SourceAccount", "SourceArn", "PrincipalOrgID", "OrganizationId", "FunctionUrlAuthType"}
    if graph.said(properties.get("Principal", "")) == "*" and not narrowed & {*properties}:
        yield graph.said(properties.get("Action", "?")), _ANYBODY, "its permission is for everybody"


_OWN: Final[Mapping[str, Callable[[Graph, Mapping[str, Any]], Iterator[tuple[str, str, str]]]]] = {
    "AWS::Lambda::LayerVersionPermission": _permission,
    "AWS::Lambda::Permission": _permission,
    "AWS::OpenSearchServerless::SecurityPolicy": _collection,
    "AWS::RDS::DBInstance": _database,
    "AWS::Transfer::Server": _server,
}
