"""Machine images: a Deep Learning AMI by its name, one of your own, or one that is built here."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from cdk_trainyard.errors import raise_problems
from cdk_trainyard.fleet._data import load
from cdk_trainyard.fleet.rules_image import dlami_problems

if TYPE_CHECKING:
    from cdk_trainyard.fleet.training_image import TrainingImage

AMAZON_LINUX_ROOT_DEVICE = "/dev/xvda"
"""Name of the root volume in images of Amazon Linux."""
_UBUNTU_ROOT_DEVICE = "/dev/sda1"


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeImage:
    """The machine image of nodes, with what has to fit the instance type.

    Attributes:
        name: What messages call it.
        architecture: ``"x86_64"`` or ``"arm64"``. None: not known, and nothing is compared.
        user: The user that people and jobs work as.
        families: Families of accelerated types that it has drivers for. None: not known.
        ami_id: The AMI. None: ``parameter`` names it.
        parameter: The parameter of Parameter Store that holds the AMI's id.
        follow: Whether each new node takes the AMI that the parameter holds when it starts; otherwise it is read when
            the stack is deployed, and all nodes are alike.
    """

    name: str
    architecture: str | None = None
    user: str = "ubuntu"
    families: tuple[str, ...] | None = None
    ami_id: str | None = None
    parameter: str | None = None
    follow: bool = False

    @classmethod
    def dlami(cls, name: str) -> "NodeImage":
        """Return the newest AWS Deep Learning AMI of a kind, as it is when the stack is deployed.

        Args:
            name: Its name in ``dlami_names()``.

        Raises:
            ConfigurationError: There is none of this name, or it is retired; says what takes its place.
        """
        raise_problems("NodeImage", dlami_problems(name))
        known: dict[str, Any] = load("images")["images"][name]
        return cls(
            name=name,
            architecture=known["architecture"],
            user=known["user"],
            families=tuple(known["families"]),
            parameter=known["parameter"],
        )

    @classmethod
    def ami(cls, ami_id: str, *, architecture: str | None = None, user: str = "ubuntu") -> "NodeImage":
        """Return an AMI of yours: with the AWS CLI, the EFA software, a Lustre client and drivers.

        Args:
            ami_id: The AMI, ``ami-…``.
            architecture: ``"x86_64"`` or ``"arm64"``. Default - not known: a wrong one fails at launch.
            user: The user that people and jobs work as. Default: ubuntu.
        """
        return cls(name=ami_id, architecture=architecture, user=user, ami_id=ami_id)

    @classmethod
    def from_parameter(cls, parameter: str, *, architecture: str | None = None, user: str = "ubuntu") -> "NodeImage":
        """Return the AMI whose id a parameter of Parameter Store holds when the stack is deployed.

        Args:
            parameter: The parameter's name.
            architecture: ``"x86_64"`` or ``"arm64"``. Default - not known.
            user: The user that people and jobs work as. Default: ubuntu.
        """
        return cls(name=parameter, architecture=architecture, user=user, parameter=parameter)

    @classmethod
    def built_by(cls, image: "TrainingImage") -> "NodeImage":
        """Return the AMI that a ``TrainingImage`` builds.

        Args:
            image: The image. One that builds while the stack is deployed gives its AMI; of another, every new node
                takes the newest that its pipeline has made.
        """
        return cls(
            name=image.node.path,
            architecture=image.base.architecture,
            user=image.base.user,
            families=image.families,
            ami_id=image.image_id,
            parameter=image.parameter_name,
            follow=True,
        )

    @property
    def root_device(self) -> str:
        """Name of its root volume, which Amazon Linux and Ubuntu call differently."""
        return AMAZON_LINUX_ROOT_DEVICE if self.user == "ec2-user" else _UBUNTU_ROOT_DEVICE

    def render(self, scope: Construct) -> str:
        """Return what a launch template says of it: an id, or a reference to one.

        Args:
            scope: Whose template it is. A parameter of Parameter Store becomes a parameter of its stack.
        """
        if self.ami_id is not None:
            return self.ami_id
        parameter = self.parameter or ""
        if self.follow:
            return f"resolve:ssm:{parameter}"
        return ec2.MachineImage.from_ssm_parameter(parameter).get_image(scope).image_id


def dlami_names() -> tuple[str, ...]:
    """Return the names of the Deep Learning AMIs (and plain Ubuntu images) that are known, sorted.

    Source: ``data/images.json``, with its date; a newer one is taken by ``NodeImage.from_parameter``.
    """
    return tuple(sorted(load("images")["images"]))
