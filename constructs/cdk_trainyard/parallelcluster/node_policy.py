"""What the nodes of a cluster may do: one managed policy, under the one path that the provider may attach from."""

from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from constructs import Construct

from cdk_trainyard.acknowledgments import Wildcards, acknowledge, main_resource
from cdk_trainyard.managed_policy import SESSION_CHANNELS, hold_to_size

PATH = "/parallelcluster/"
"""The provider's role may attach policies of this path, and few others."""

# Session Manager, without what else AmazonSSMManagedInstanceCore allows (every parameter of the account).
_SESSIONS = (
    "ec2messages:AcknowledgeMessage",
    "ec2messages:DeleteMessage",
    "ec2messages:FailMessage",
    "ec2messages:GetEndpoint",
    "ec2messages:GetMessages",
    "ec2messages:SendReply",
    "ssm:UpdateInstanceInformation",
    *SESSION_CHANNELS,
)

_SESSIONS_REASON = "the channels of Session Manager know no resources, nor does a registry's token"


class NodePolicy(Construct):
    """A managed policy of all nodes of a cluster, beside what ParallelCluster gives them.

    It holds what Session Manager needs, reading of the nodes' own scripts, and what is granted to the cluster.

    Attributes:
        policy: The policy.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.policy = iam.ManagedPolicy(
            self,
            "Resource",
            path=PATH,
            description="What the nodes of a ParallelCluster need beside what it gives them",
        )
        self.policy.add_statements(iam.PolicyStatement(sid="OpenSessions", actions=list(_SESSIONS), resources=["*"]))
        hold_to_size(self.policy)
        resource = main_resource(self.policy)
        self._wildcards = Wildcards(resource)
        self._wildcards.acknowledge(_SESSIONS_REASON, "*")
        acknowledge(resource, {"CKV_AWS_111": _SESSIONS_REASON})

    def allow(self, statements: Sequence[iam.PolicyStatement], *, reason: str, wildcards: Sequence[str]) -> None:
        """Let the nodes do more.

        Args:
            statements: What they may do.
            reason: Why nothing narrower will do.
            wildcards: The resources of the statements that are patterns.
        """
        self.policy.add_statements(*statements)
        self._wildcards.acknowledge(reason, *wildcards)
