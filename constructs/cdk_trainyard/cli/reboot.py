"""``trainyard reboot FILE NODE|GROUP…``."""

from cdk_trainyard.cli import _acting

command = _acting.command("reboot", "Reboot nodes.", lambda system, nodes: system.reboot(nodes))
