"""The role of nodes that run jobs: one managed policy, which holds what nodes, their set-up and jobs may do."""

from collections.abc import Mapping, Sequence
from typing import cast

import jsii
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge_wildcards, main_resource
from cdk_trainyard.managed_policy import SESSION_CHANNELS, ManagedPolicyPrincipal
from cdk_trainyard.storage.grants import job_statements

_JOBS_NAME_KEYS = "jobs name their own keys in the buckets that were made for them"


@jsii.implements(iam.IGrantable)
class JobRole(Construct):
    """A role with one managed policy, in which grants land too; sessions can be opened on whoever has it.

    Args:
        service: Who can assume a new role, as ``"ec2.amazonaws.com"``.
        whose: Whose role it is, for descriptions.
        role: A role that gets the policy attached. None: a new one.
        managed_policies: Further policies of a new role. Default: none.

    Attributes:
        role: The role.
        policy: Its managed policy.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        service: str,
        whose: str,
        role: iam.IRole | None,
        managed_policies: Sequence[iam.IManagedPolicy] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        self.role: iam.IRole = role or iam.Role(
            self,
            "Resource",
            assumed_by=iam.ServicePrincipal(service),
            description=f"Nodes of {whose}",
            managed_policies=list(managed_policies),
        )
        self.policy = iam.ManagedPolicy(
            self, "Policy", roles=[self.role], description=f"What the nodes of {whose} need"
        )
        self._principal = ManagedPolicyPrincipal(self.role, self.policy)
        self._allowed: set[str] = set()
        self._acknowledged: set[str] = set()

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The role, whose grants land in the managed policy."""
        return cast("iam.IPrincipal", self._principal)

    def allow_buckets(self, *, read: Sequence[s3.IBucket], read_write: Sequence[s3.IBucket]) -> None:
        """Let jobs read some buckets, and read and write others; nothing is ever deleted.

        Args:
            read: The buckets that are read.
            read_write: The buckets that are read and written.
        """
        statements, wildcards = job_statements(read=read, read_write=read_write)
        self.policy.add_statements(*statements)
        self.acknowledge(_JOBS_NAME_KEYS, *wildcards)

    def acknowledge(self, reason: str, *resources: str) -> None:
        """Explain wildcards of the policy to reviewers; what was explained before keeps its reason.

        Args:
            reason: Why nothing narrower will do.
            resources: The values with a wildcard.
        """
        new = [arn for arn in resources if arn not in self._acknowledged]
        self._acknowledged.update(new)
        if new:
            acknowledge_wildcards(main_resource(self.policy), reason=reason, resources=new)

    def _allow(
        self,
        sid: str,
        actions: Sequence[str],
        resources: Sequence[str],
        conditions: Mapping[str, Mapping[str, object]] | None = None,
    ) -> None:
        """Add a statement, unless the one of that name is there."""
        if sid in self._allowed:
            return
        self._allowed.add(sid)
        self.policy.add_statements(
            iam.PolicyStatement(sid=sid, actions=list(actions), resources=list(resources), conditions=conditions)
        )

    def _allow_sessions(self) -> None:
        self._allow("OpenSessions", SESSION_CHANNELS, ["*"])
