"""What the provider must be allowed for one cluster, beside what its template allows."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.acknowledgments import Wildcards, main_resource
from cdk_trainyard.parallelcluster import limits
from cdk_trainyard.parallelcluster.calls import NodeCalls
from cdk_trainyard.parallelcluster.node_policy import PATH
from cdk_trainyard.parallelcluster.rules_versions import version_of
from cdk_trainyard.parallelcluster.spec import ParallelClusterSpec, SlurmAccounting
from cdk_trainyard.parallelcluster.volume_keys import provider_key_statements


def provider_policy(
    scope: Construct, construct_id: str, spec: ParallelClusterSpec, scripts: NodeCalls
) -> iam.ManagedPolicy | None:
    """Define the policy, or nothing when the template allows enough.

    ParallelCluster looks whether scripts and secrets are there before it makes a cluster, and makes volumes with their
    keys; its template allows none of it. Those of older versions do not let it tag what login nodes stand behind.

    Args:
        scope: Where it belongs.
        construct_id: Its id there.
        spec: The resolved cluster.
        scripts: Its scripts.
    """
    statements: list[iam.PolicyStatement] = []
    wildcards: list[str] = []
    for readable in scripts.readable:
        statements += readable.read_statements()
        wildcards.append(readable.objects_arn)
    if isinstance(accounting := spec.slurm.accounting, SlurmAccounting):
        secret = accounting.password_secret.secret_arn
        statements.append(iam.PolicyStatement(actions=["secretsmanager:DescribeSecret"], resources=[secret]))
    statements += provider_key_statements(spec)
    behind = _login_arns(scope) if spec.login_pools and (version_of(spec) or ()) < limits.LOGIN_TAGS_SINCE else []
    if behind:
        statements.append(
            iam.PolicyStatement(
                actions=["elasticloadbalancing:CreateListener", "elasticloadbalancing:CreateTargetGroup"],
                resources=behind,
                conditions={"Null": {"aws:RequestTag/parallelcluster:cluster-name": "false"}},
            )
        )
    if not statements:
        return None
    policy = iam.ManagedPolicy(
        scope,
        construct_id,
        path=PATH,
        description="What the provider of a ParallelCluster looks at before it makes the cluster",
        statements=statements,
    )
    acknowledged = Wildcards(main_resource(policy))
    acknowledged.acknowledge("a folder is everything under its prefix", *wildcards)
    acknowledged.acknowledge(
        "CloudFormation names what login nodes stand behind; the tag of a cluster is asked for", *behind
    )
    return policy


def _login_arns(scope: Construct) -> list[str]:
    """Return what stands before login nodes: load balancers of connections, and target groups."""
    return [
        Stack.of(scope).format_arn(service="elasticloadbalancing", resource=kind, resource_name="*")
        for kind in ("loadbalancer/net", "targetgroup")
    ]
