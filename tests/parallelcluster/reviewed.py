"""What the reviewers' tools are asked about: what this room builds."""

from tests.parallelcluster.parts import DEPLOYMENTS, closed, encrypted, new_stack
from tests.review.tools import Room

ROOM = Room(new_stack, [*DEPLOYMENTS.values(), closed, encrypted])
