"""The role of nodes that run jobs: one managed policy, which holds what nodes, their set-up and jobs may do."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import jsii
from aws_cdk import Annotations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from cdk_trainyard.acknowledgments import Wildcards, acknowledge, aws_policy_reasons, main_resource
from cdk_trainyard.managed_policy import SESSION_CHANNELS, ManagedPolicyPrincipal, attach, hold_to_size
from cdk_trainyard.storage.grants import JOBS_NAME_KEYS, job_statements
from cdk_trainyard.storage.node_grants import PULL_REASON, pull_batches, pull_statements, remote_write_statements

if TYPE_CHECKING:  # a large module: only who names a repository waits for it
    from aws_cdk import aws_ecr as ecr

_MOST_POLICIES = 10
"""Managed policies of a role, unless the quota is raised (IAM user guide, "IAM and AWS STS quotas", read 2026-11)."""


@jsii.implements(iam.IGrantable)
class JobRole(Construct):
    """A role with one managed policy, in which grants land too; sessions can be opened on whoever has it.

    Args:
        service: Who can assume a new role, as ``"ec2.amazonaws.com"``.
        whose: Whose role it is, for descriptions.
        role: A role that gets the policy attached. None: a new one.
        aws_policies: AWS's own policies of a new role, by name, each with the reason for reviewers. Default - none.

    Attributes:
        role: The role.
        aws_policies: AWS's own policies that a new role has, by name, with the reason.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        service: str,
        whose: str,
        role: iam.IRole | None,
        aws_policies: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(scope, construct_id)
        self.aws_policies: Mapping[str, str] = aws_policies
        self.role: iam.IRole = role or self._new_role(service, whose)
        if role is None:
            self.node.default_child = self.role.node.default_child
        self._whose = whose
        self._allowed: set[str] = set()
        self._images: list[iam.ManagedPolicy] = []

    def _new_role(self, service: str, whose: str) -> iam.Role:
        role = iam.Role(
            self,
            "Resource",
            assumed_by=iam.ServicePrincipal(service),
            description=f"Nodes of {whose}",
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(name) for name in self.aws_policies],
        )
        acknowledge(main_resource(role), aws_policy_reasons(self.aws_policies))
        return role

    @cached_property
    def policy(self) -> iam.ManagedPolicy:
        """Its managed policy, defined when something is granted: an empty one is refused."""
        policy = iam.ManagedPolicy(self, "Policy", description=f"What the nodes of {self._whose} need")
        self.attach(policy)
        hold_to_size(policy)
        return policy

    def attach(self, policy: iam.ManagedPolicy) -> None:
        """Attach a policy to the role, or say that its owner must.

        Args:
            policy: The policy.
        """
        slug, otherwise = "@cdk-trainyard/storage:role-not-changed", "nodes may do nothing of what they need"
        attach(self, policy, self.role, slug=slug, whose="the nodes", otherwise=otherwise)

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The role, whose grants land in the managed policy."""
        return self._principal

    @cached_property
    def _principal(self) -> iam.IPrincipal:
        return cast("iam.IPrincipal", ManagedPolicyPrincipal(self.role, self.policy))

    def allow_buckets(self, *, read: Sequence[s3.IBucket], read_write: Sequence[s3.IBucket]) -> None:
        """Let jobs read some buckets, and read and write others; nothing is ever deleted.

        Args:
            read: The buckets that are read.
            read_write: The buckets that are read and written.
        """
        statements, wildcards = job_statements(read=read, read_write=read_write)
        self.policy.add_statements(*statements)
        self.acknowledge(JOBS_NAME_KEYS, *wildcards)

    def allow_pull(self, repositories: "Sequence[ecr.IRepository]") -> None:
        """Let nodes pull container images from private registries (ECR).

        Args:
            repositories: The repositories; one that is named ``*`` stands for all of its account and Region.
        """
        beside, *apart = pull_batches(repositories)
        statements, wildcards = pull_statements(beside)
        self.policy.add_statements(*statements)
        self.acknowledge(PULL_REASON, *wildcards)
        for number, batch in enumerate(apart, 1):
            statements, wildcards = pull_statements(batch)
            policy = iam.ManagedPolicy(
                self,
                f"Images{number}",
                description=f"Images that the nodes of {self._whose} pull",
                statements=statements,
            )
            Wildcards(main_resource(policy)).acknowledge(PULL_REASON, *wildcards)
            self.attach(policy)
            self._images.append(policy)
        count = len(self.policies) + len(self.aws_policies)
        if count > _MOST_POLICIES:
            text = f"the role of the nodes of {self._whose} has {count} managed policies, as so many repositories are "
            text += f"named: raise IAM's quota of {_MOST_POLICIES} policies of a role, or name '*' in place of some"
            Annotations.of(self).add_warning_v2("@cdk-trainyard/storage:many-policies", text)

    @property
    def policies(self) -> list[iam.ManagedPolicy]:
        """Its managed policies: that which grants land in, and those of images that have no room there."""
        return [self.policy, *self._images]

    def allow_remote_write(self, *workspace_arns: str | None) -> None:
        """Let nodes write metrics to workspaces of Amazon Managed Service for Prometheus; asked once.

        Args:
            workspace_arns: The ARNs of the workspaces. None: nowhere.
        """
        self.policy.add_statements(*remote_write_statements(*workspace_arns))

    def acknowledge(self, reason: str, *resources: str) -> None:
        """Explain wildcards of the policy to reviewers; what was explained before keeps its reason.

        Args:
            reason: Why nothing narrower will do.
            resources: The values with a wildcard.
        """
        if resources:
            self._wildcards.acknowledge(reason, *resources)

    @cached_property
    def _wildcards(self) -> Wildcards:
        return Wildcards(main_resource(self.policy))

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
