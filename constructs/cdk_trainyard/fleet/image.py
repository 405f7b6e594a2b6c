"""Machine images as launch templates have them."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_trainyard.fleet.images import KnownImage, known_image
from cdk_trainyard.fleet.spec_image import NodeImage

AMAZON_LINUX_ROOT_DEVICE = "/dev/xvda"
"""Name of the root volume in images of Amazon Linux."""
_UBUNTU_ROOT_DEVICE = "/dev/sda1"


def root_device(user: str) -> str:
    """Return the name of an image's root volume, which Amazon Linux and Ubuntu call differently.

    Args:
        user: The image's user.
    """
    return AMAZON_LINUX_ROOT_DEVICE if user == "ec2-user" else _UBUNTU_ROOT_DEVICE


def image_id(scope: Construct, image: NodeImage) -> str:
    """Return what a launch template says of an image: an id, or a reference to one.

    Args:
        scope: Whose template it is. A parameter of Parameter Store becomes a parameter of its stack.
        image: The image.
    """
    if image.build is not None:
        return image.build.image_id or f"resolve:ssm:{image.build.parameter_name}"
    return image.ami_id or known_id(scope, known_image(image))


def known_id(scope: Construct, known: KnownImage) -> str:
    """Return the id of an AMI, or a reference to it.

    Args:
        scope: Who asks. A parameter of Parameter Store becomes a parameter of its stack.
        known: What is known of the image.
    """
    if known.parameter is None:  # its name is yet to be looked up, or it is an id
        return known.name
    return ec2.MachineImage.from_ssm_parameter(known.parameter).get_image(scope).image_id
