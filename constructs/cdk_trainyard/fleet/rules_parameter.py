"""What is known of AWS's own parameters of Parameter Store, by which nodes find their image. Pure.

Sources, read 2026-11: EC2 user guide, "Reference the latest AMIs using Systems Manager public parameters"; DLAMI
developer guide, "Finding the ID of a DLAMI"; AWS Neuron documentation, "Neuron DLAMI User Guide"; Canonical, "Find
Ubuntu images on AWS"; ECS developer guide, "Retrieving Amazon ECS-optimized Linux AMI metadata" (``recommended`` is
JSON); Systems Manager user guide, "Referencing Secrets Manager secrets from Parameter Store parameters".
"""

from collections.abc import Iterator
from typing import Final

from cdk_trainyard.fleet.images import AMI, architecture_of
from cdk_trainyard.fleet.spec_image import NodeImage
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.problems import Problem, option, shown
from cdk_trainyard.tokens import unresolved

_ENDS: Final = {
    "/aws/service/deeplearning/ami/": "/ami-id",
    "/aws/service/ecs/optimized-ami/": "/image_id",
    "/aws/service/neuron/dlami/": "/image_id",
}
"""How names begin, and how those of an AMI's id end."""
_NO_AMI: Final = {
    "/aws/reference/secretsmanager/": "a secret",
    "/aws/service/ami-windows-latest/": "an image of Windows",
}
_PLAIN: Final = "/aws/service/canonical/ubuntu/"
_USERS: Final = {"ubuntu": "ubuntu", "amazon-linux": "ec2-user"}


def parameter_problems(image: NodeImage) -> Iterator[Problem]:
    """Check that a parameter of AWS's holds an image of Linux, and what is said of that image.

    Args:
        image: The image.
    """
    name = image.parameter
    if name is None or unresolved(name):
        return
    if AMI.problem(name, NOWHERE) is None:
        text = f"must be the name of a parameter, got the id of an AMI, {shown(name)}; give it as {option('ami_id')}"
        yield Problem(("parameter",), text)
    if what := next((_NO_AMI[each] for each in _NO_AMI if name.startswith(each)), None):
        yield Problem(("parameter",), f"must hold the id of an AMI of Linux, got {shown(name)}, which holds {what}")
    if name.startswith(_PLAIN):
        base = "arm64-ubuntu-24.04" if architecture_of(name) == "arm64" else "ubuntu-24.04"
        text = f"must hold the id of an AMI with the AWS CLI, which nodes set themselves up with, got {shown(name)}"
        yield Problem(("parameter",), f"{text}, which holds plain Ubuntu; use {option('build')} with the 'base' {base}")
        return
    end = next((_ENDS[each] for each in _ENDS if name.startswith(each)), "")
    if not name.endswith(end):
        text = f"must end with '{end}' to hold the id of an AMI, got {shown(name)}"
        yield Problem(("parameter",), f"{text}; use {shown(f'{name}{end}')}")
    elif name.startswith("/aws/service/"):
        yield from _said_problems(image, name)


def _said_problems(image: NodeImage, name: str) -> Iterator[Problem]:
    """Compare architecture and user with those that the name says."""
    known, architecture = architecture_of(name), image.architecture
    if None not in {known, architecture} and not unresolved(architecture) and known != architecture:
        text = f"must be {known}, as {option('parameter')} {name} says, got {architecture}"
        yield Problem(("architecture",), text)
    user = next((_USERS[each] for each in _USERS if each in name), None)
    said = _USERS["ubuntu"] if image.user is None else image.user
    if user is not None and not unresolved(said) and said in _USERS.values() and said != user:
        got = said if image.user else f"none, which means {said}"
        text = f"must be {user}, who is on the image of {option('parameter')} {name}, got {got}"
        yield Problem(("user",), text)
