"""Security group rules between nodes and FSx for Lustre (988, 1018-1023; all for EFA), and to accounting databases."""

from collections.abc import Sequence

from aws_cdk import Names
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_trainyard.acknowledgments import acknowledge
from cdk_trainyard.network import EfaSecurityGroup
from cdk_trainyard.storage.lustre_base import Lustre

_Group = EfaSecurityGroup | ec2.ISecurityGroup
_Ports = tuple[str, int | None, int | None]
_LUSTRE_PORTS: Sequence[_Ports] = (("tcp", 988, 988), ("tcp", 1018, 1023))
_EFA_PORTS: Sequence[_Ports] = (("-1", None, None),)
_DESCRIPTION = "Lustre between nodes and their file system"
_DATABASE = "slurmdbd to its accounting database"
_EFA_REASON = "the source is the security group of the other side, and EFA needs all traffic between the two"


def open_lustre(scope: Construct, file_system: Lustre, clients: Sequence[EfaSecurityGroup]) -> Construct | None:
    """Let nodes reach a file system whose security group is not theirs, and the servers reach them back.

    Ports: 988 and 1018 to 1023 both ways, or everything for EFA (``limit-access-security-groups`` and
    ``efa-file-systems`` in the FSx for Lustre user guide).

    Args:
        scope: Where the rules belong: with the clients, so that the file system's stack stays as it is.
        file_system: The file system.
        clients: The security groups of one node; one of them is opened.

    Returns:
        The rules, or None when the file system shares a security group with the clients, or both have them.
    """
    servers = file_system.security_group
    if file_system.rules_exist or servers.security_group_id in [client.security_group_id for client in clients]:
        return None
    client = clients[0]
    construct_id = f"{Names.node_unique_id(client.node)}To{Names.node_unique_id(file_system.node)}"
    rules = Construct(scope, construct_id)
    ways = (("Clients", client, "Servers", servers), ("Servers", servers, "Clients", client))
    for ports in _EFA_PORTS if file_system.efa_enabled else _LUSTRE_PORTS:
        for source, one, target, other in ways:
            ids = (f"{source}Out{ports[1] or ''}", f"{target}In{ports[1] or ''}")
            ingress = _let_reach(rules, ids, one, other, ports, _DESCRIPTION)
            if file_system.efa_enabled:
                acknowledge(ingress, {"NIST.800.53.R5-EC2RestrictedCommonPorts": _EFA_REASON})
    return rules


def open_database(
    scope: Construct, connections: ec2.Connections, clients: Sequence[ec2.ISecurityGroup], *, port: int
) -> list[Construct]:
    """Let nodes reach a database, by rules that depend on it and on which it does not depend.

    CDK's own ``allow_default_port_from`` would put the rule into the database's stack, which would then wait for the
    cluster's.

    Args:
        scope: Where the rules belong: with the clients.
        connections: The database's.
        clients: Security groups of the nodes that connect.
        port: The database's port.

    Returns:
        The rules.
    """
    pairs = [(server, client) for server in connections.security_groups for client in clients]
    return [_open_port(scope, server, client, port) for server, client in pairs]


def _open_port(scope: Construct, server: ec2.ISecurityGroup, client: ec2.ISecurityGroup, port: int) -> Construct:
    rules = Construct(scope, f"{Names.node_unique_id(client.node)}To{Names.node_unique_id(server.node)}")
    _let_reach(rules, ("Out", "In"), client, server, ("tcp", port, port), _DATABASE)
    return rules


def _let_reach(
    rules: Construct,
    ids: tuple[str, str],
    source: _Group,
    target: _Group,
    ports: _Ports,
    description: str,
) -> ec2.CfnSecurityGroupIngress:
    """Let a source reach a target, by an egress rule of the one and an ingress rule of the other.

    Args:
        rules: Where both are defined.
        ids: Ids of the egress and of the ingress.
        source: The group of those who connect.
        target: The group of those who answer.
        ports: Protocol, first and last port.
        description: Of both.

    Returns:
        The ingress.
    """
    protocol, first, last = ports
    egress_id, ingress_id = ids
    ec2.CfnSecurityGroupEgress(
        rules,
        egress_id,
        group_id=source.security_group_id,
        destination_security_group_id=target.security_group_id,
        ip_protocol=protocol,
        from_port=first,
        to_port=last,
        description=description,
    )
    return ec2.CfnSecurityGroupIngress(
        rules,
        ingress_id,
        group_id=target.security_group_id,
        source_security_group_id=source.security_group_id,
        ip_protocol=protocol,
        from_port=first,
        to_port=last,
        description=description,
    )
