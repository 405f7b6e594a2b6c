"""Network interfaces as a launch template of EC2 has them."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2

from cdk_trainyard.network.efa_security_group import EfaSecurityGroup
from cdk_trainyard.network.interfaces import EfaInterface


def launch_template_interfaces(
    interfaces: Sequence[EfaInterface],
    *,
    security_group: EfaSecurityGroup,
    primary_security_groups: Sequence[ec2.ISecurityGroup] = (),
    subnet: ec2.ISubnet | None = None,
) -> list[ec2.CfnLaunchTemplate.NetworkInterfaceProperty]:
    """Return the interfaces as a launch template has them.

    Args:
        interfaces: The interfaces, the primary one first.
        security_group: The group that lets EFA traffic pass; every interface needs it.
        primary_security_groups: Further groups of the primary interface. Default - none.
        subnet: The subnet. Default - whoever launches the instances chooses it.
    """
    further = [group.security_group_id for group in primary_security_groups]
    return [
        ec2.CfnLaunchTemplate.NetworkInterfaceProperty(
            network_card_index=interface.network_card_index,
            device_index=interface.device_index,
            interface_type=interface.interface_type,
            groups=[security_group.security_group_id, *(further if index == 0 else [])],
            subnet_id=subnet.subnet_id if subnet is not None else None,
            delete_on_termination=True,
        )
        for index, interface in enumerate(interfaces)
    ]
