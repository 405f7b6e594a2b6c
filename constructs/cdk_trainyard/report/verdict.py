"""What an assembly is, in one sentence made from its templates."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from cdk_trainyard.identifiers import PARALLELCLUSTER_TYPE
from cdk_trainyard.report.graph import Graph
from cdk_trainyard.report.machines import Machines, of_type
from cdk_trainyard.report.words import counted, joined

_NOUNS: Final = {
    "AWS::SageMaker::Cluster": "SageMaker HyperPod cluster",
    PARALLELCLUSTER_TYPE: "ParallelCluster",
    "AWS::EKS::Cluster": "EKS cluster",
    "AWS::ECS::Service": "ECS service",
    "AWS::ElasticLoadBalancingV2::LoadBalancer": "load balancer",
    "AWS::FSx::FileSystem": "FSx file system",
    "AWS::EFS::FileSystem": "EFS file system",
    "AWS::RDS::DBCluster": "database cluster",
    "AWS::RDS::DBInstance": "database instance",
    "AWS::DynamoDB::Table": "DynamoDB table",
    "AWS::S3::Bucket": "bucket",
    "AWS::SecretsManager::Secret": "secret",
    "AWS::Lambda::Function": "Lambda function",
    "AWS::EC2::VPC": "VPC",
}
"""Types that a sentence names, the most telling first."""


def sentence(graph: Graph, machines: Sequence[Machines]) -> str:
    """Return what an assembly is.

    Args:
        graph: Its resources.
        machines: Its machines.
    """
    counts = Counter(each.type for each in graph.resources.values())
    parts = [*_fleet(machines), *(counted(counts[kind], noun) for kind, noun in _NOUNS.items() if counts[kind])]
    regions = sorted({stack.region for stack in graph.assembly.stacks} - {""})
    where = f" in {joined(regions)}" if regions else ""
    stacks = counted(len(graph.assembly.stacks), "stack")
    what = f"{joined(parts)}{where}: " if parts else ""
    return f"{what}{counted(len(graph.resources), 'resource')} in {stacks}{'' if parts else where}."


def _fleet(machines: Sequence[Machines]) -> Iterator[str]:
    kinds: dict[str, tuple[int, int]] = {}
    for each in machines:
        count, most = kinds.get(each.type, (0, 0))
        kinds[each.type] = (count + each.count, most + each.most)
    for kind, (count, most) in kinds.items():
        what = of_type(kind, "machine" if most == 1 else "machines")
        yield f"{count} {what}" if count == most else f"{count} to {most} {what}"
