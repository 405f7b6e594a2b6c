"""The security group of everything that speaks EFA: all traffic to and from itself, whatever else is allowed.

EFA's health checks fail without the rule for traffic *out* to the group itself; a rule for all addresses does not
stand in for it. ``ec2.SecurityGroup(allow_all_outbound=True)`` drops that very rule without a word, so both are L1
resources of their own here, which nothing that is said to the security group later can remove.
"""

from dataclasses import dataclass

import jsii
from aws_cdk import Names, Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct, DependencyGroup, IDependable

from cdk_trainyard.acknowledgments import acknowledge
from cdk_trainyard.names import Naming, named

_DESCRIPTION = "Nodes and file systems that reach each other over EFA"
_ALL = "-1"
_REASON = "the source is the group itself, which EFA requires for all traffic; nothing outside the group is let in"


@jsii.implements(ec2.IConnectable)
class EfaSecurityGroup(Construct):
    """A security group with all traffic to itself allowed in both directions.

    Defines the group and one rule each way. ``connections`` takes further rules as any security group does.

    Args:
        vpc: The VPC.
        description: What the group is for. EC2 cannot change it later: another text is another group.
            Default: "Nodes and file systems that reach each other over EFA".
        outbound: Whether traffic to everywhere else is allowed too: packages, container images, AWS services.
            Default: True.
        names: Names by convention for what is made here. Default - CloudFormation makes names up.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        description: str = _DESCRIPTION,
        outbound: bool = True,
        names: Naming | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        named(self, names)
        group = ec2.SecurityGroup(self, "Resource", vpc=vpc, description=description, allow_all_outbound=outbound)
        self.node.default_child = group.node.default_child
        # Under the very ids that the L2 gives such rules: connections.allow_internally() then finds them there, where
        # a second rule with the same content would be refused by EC2.
        peer = f"{group.unique_id}:{ec2.Port.all_traffic().to_string()}"
        self._attach(group, _SelfRules(scope=group, ingress_id=f"from {peer}", egress_id=f"to {peer}"))

    @staticmethod
    def from_security_group(
        scope: Construct, construct_id: str, security_group: ec2.ISecurityGroup, *, self_rules_exist: bool = False
    ) -> "EfaSecurityGroup":
        """Take a security group that exists already, and add what it lacks.

        Args:
            scope: The parent.
            construct_id: The id in it.
            security_group: The group.
            self_rules_exist: Whether it has both rules for all traffic to and from itself. EC2 refuses a rule that
                exists already. Default: False, both are added.
        """
        return _ExistingSecurityGroup(scope, construct_id, security_group, self_rules_exist=self_rules_exist)

    @staticmethod
    def of(security_group: "EfaSecurityGroup | ec2.ISecurityGroup") -> "EfaSecurityGroup":
        """Take a security group as it is, or one of CDK's with both rules added, once.

        Args:
            security_group: The group. One that has both rules already is given as
                ``EfaSecurityGroup.from_security_group(…, self_rules_exist=True)``.
        """
        if isinstance(security_group, EfaSecurityGroup):
            return security_group
        stack, construct_id = Stack.of(security_group), f"Efa{Names.node_unique_id(security_group.node)}"
        known = stack.node.try_find_child(construct_id)
        if isinstance(known, EfaSecurityGroup):
            return known
        return EfaSecurityGroup.from_security_group(stack, construct_id, security_group)

    @property
    def security_group(self) -> ec2.ISecurityGroup:
        """The group, for constructs of CDK."""
        return self._security_group

    @property
    def security_group_id(self) -> str:
        """Its id."""
        return self._id

    @property
    def connections(self) -> ec2.Connections:
        """Where further rules are added."""
        return self._security_group.connections

    @property
    def self_rules(self) -> IDependable:
        """Both rules. What is created before them fails: a file system on its port, a cluster on its health checks."""
        return self._self_rules

    def _attach(self, security_group: ec2.ISecurityGroup, missing: "_SelfRules | None") -> None:
        self._security_group, self._id = security_group, security_group.security_group_id
        self._self_rules = DependencyGroup()
        if missing is None:
            return
        ingress = ec2.CfnSecurityGroupIngress(
            missing.scope,
            missing.ingress_id,
            group_id=self._id,
            source_security_group_id=self._id,
            ip_protocol=_ALL,
            description="EFA: all traffic from the group itself",
        )
        egress = ec2.CfnSecurityGroupEgress(
            missing.scope,
            missing.egress_id,
            group_id=self._id,
            destination_security_group_id=self._id,
            ip_protocol=_ALL,
            description="EFA: all traffic to the group itself",
        )
        self._self_rules.add(ingress, egress)
        acknowledge(ingress, {"NIST.800.53.R5-EC2RestrictedCommonPorts": _REASON})


@dataclass(frozen=True, kw_only=True, slots=True)
class _SelfRules:
    """Where the two rules are made."""

    scope: Construct
    ingress_id: str
    egress_id: str


class _ExistingSecurityGroup(EfaSecurityGroup):
    def __init__(
        self, scope: Construct, construct_id: str, security_group: ec2.ISecurityGroup, *, self_rules_exist: bool
    ) -> None:
        super(EfaSecurityGroup, self).__init__(scope, construct_id)
        missing = _SelfRules(scope=self, ingress_id="SelfIngress", egress_id="SelfEgress")
        self._attach(security_group, None if self_rules_exist else missing)
