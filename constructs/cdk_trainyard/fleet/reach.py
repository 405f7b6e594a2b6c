"""Lets nodes and the servers of a file system reach each other when they do not share a security group."""

from aws_cdk import Names
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_trainyard.acknowledgments import NIST_800_53_R5, acknowledge_nag
from cdk_trainyard.network import EfaSecurityGroup
from cdk_trainyard.storage import Lustre

_LUSTRE_PORTS = (("tcp", 988, 988), ("tcp", 1018, 1023))
_EFA_PORTS = (("-1", None, None),)
_DESCRIPTION = "Lustre between an EFA fleet and its file system"
_EFA_REASON = "the source is the security group of the other side, and EFA needs all traffic between the two"


def open_lustre(scope: Construct, file_system: Lustre, client: EfaSecurityGroup) -> Construct | None:
    """Define the rules between nodes and file servers, both ways.

    Ports: 988 and 1018 to 1023, or everything for EFA (``limit-access-security-groups`` and ``efa-file-systems`` in
    the FSx for Lustre user guide).

    Args:
        scope: Where the rules belong: with the nodes, so that the file system's stack stays as it is.
        file_system: The file system.
        client: The security group of the nodes.

    Returns:
        The rules, or None when the file system shares the security group.
    """
    servers = file_system.security_group
    if servers.security_group_id == client.security_group_id:
        return None
    rules = Construct(scope, f"To{Names.node_unique_id(file_system.node)}")
    for name, group, peer in (("Servers", servers, client), ("Clients", client, servers)):
        for protocol, first, last in _EFA_PORTS if file_system.efa_enabled else _LUSTRE_PORTS:
            ingress = ec2.CfnSecurityGroupIngress(
                rules,
                f"{name}In{first or ''}",
                group_id=group.security_group_id,
                source_security_group_id=peer.security_group_id,
                ip_protocol=protocol,
                from_port=first,
                to_port=last,
                description=_DESCRIPTION,
            )
            ec2.CfnSecurityGroupEgress(
                rules,
                f"{name}Out{first or ''}",
                group_id=group.security_group_id,
                destination_security_group_id=peer.security_group_id,
                ip_protocol=protocol,
                from_port=first,
                to_port=last,
                description=_DESCRIPTION,
            )
            if file_system.efa_enabled:
                acknowledge_nag(ingress, pack=NIST_800_53_R5, rule="EC2RestrictedCommonPorts", reason=_EFA_REASON)
    return rules
