"""``trainyard replace FILE NODE|GROUP…``."""

from cdk_trainyard.cli import _acting

command = _acting.command(
    "replace", "Put other machines in the place of nodes.", lambda system, nodes: system.replace(nodes)
)
