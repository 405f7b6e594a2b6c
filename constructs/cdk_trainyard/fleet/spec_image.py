"""What can be said of a machine image: one that there is, or one that is built. No CDK."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cdk_trainyard.fleet.images import AMI, BaseName, DlamiName, FamilyName, LoginUser, ShellCommand
from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.instances.kind import InstanceTypeName, RegionName
from cdk_trainyard.options.fields import InFile
from cdk_trainyard.options.kinds import Number, Text
from cdk_trainyard.options.processors import ARCHITECTURE
from cdk_trainyard.options.schedules import Schedule

if TYPE_CHECKING:
    from aws_cdk import aws_ec2 as ec2

    from cdk_trainyard.fleet.training_image import TrainingImage

TypeName = Annotated["str | InstanceType | ec2.InstanceType", InstanceTypeName(example="p5.48xlarge")]
EfaTypeName = Annotated["str | InstanceType | ec2.InstanceType", InstanceTypeName(example="p5.48xlarge", efa=True)]
VolumeSize = Annotated[int, Number(minimum=8, maximum=65536, unit="GiB")]
"""Sizes of gp3: EBS user guide, "General Purpose SSD volumes"; an image of Linux needs 8 GiB at least."""
_BUILT_GIB: Final = 16_000
"""``EbsVolumeSizeInteger`` of EC2 Image Builder in botocore's model, 1.44.5."""
UserName = Annotated[
    str,
    LoginUser(
        pattern=r"(?!root$)[a-z_][a-z0-9_-]{0,31}",
        words="the name of a Linux user, 32 lowercase letters, digits, '_' and '-' at most",
        example="ubuntu",
    ),
]
"""``useradd(8)``, its default for names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EfaInstaller:
    """One version of AWS's installer of EFA; AWS's signature is always verified."""

    version: Annotated[
        str,
        Text(
            pattern=r"(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){2}",
            words="a version of the EFA installer",
            example="1.50.0",
        ),
    ]
    """The version; its driver must fit the kernel of the base."""
    sha256: (
        Annotated[
            str,
            Text(
                pattern="[0-9a-fA-F]{64}",
                words="the SHA-256 of the EFA installer's archive, 64 hex digits",
                example="0123456789abcdef" * 4,
            ),
        ]
        | None
    ) = None
    """Checksum of aws-efa-installer-VERSION.tar.gz, 64 hex digits. Default - the signature is enough."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingImageSpec:
    """An image that EC2 Image Builder makes: the base with EFA, a Lustre client for its kernel, drivers, and a test."""

    base: Annotated[str, BaseName()]
    """The image to begin with: a Deep Learning AMI or plain Ubuntu by its name, or an AMI of yours by its id."""
    user: UserName | None = None
    """Who people and jobs work as, when the base is an AMI of yours. Default - ubuntu."""
    accelerator: AcceleratorKind | None = None
    """What the image has drivers for, which its test asks for. Default - nothing is asked."""
    families: Sequence[Annotated[str, FamilyName()]] = ()
    """Families of instance types that it is for, when the base does not know them. Default - the base's."""
    nvidia_branch: (
        Annotated[str, Text(pattern="[0-9]{3}", words="a branch of NVIDIA's driver", example="580")] | None
    ) = None
    """Branch of NVIDIA's proprietary driver to install, in quotes; on plain Ubuntu, made for the base's kernel.
    Default - the base's driver."""
    efa_installer: EfaInstaller | None = None
    """The EFA installer, which then replaces what the base has. Default - the base's EFA; without one, the version that
    fits the kernel of plain Ubuntu."""
    commands: Sequence[
        Annotated[
            str,
            ShellCommand(
                pattern=r"(?![\s\S]*(\{\{|\$\{AWS::))(?=[\s\S]*\S)[^\x00]+",
                words="a shell command without '{{' and '${AWS::', which Image Builder and CloudFormation take for "
                "references",
                example="swapoff --all",
            ),
        ]
    ] = ()
    """Further shell commands, run as root. Default - none."""
    instance_type: TypeName = "m5.2xlarge"
    """What builds and tests; of the base's architecture. Default: m5.2xlarge."""
    volume_gib: Annotated[int, Number(minimum=8, maximum=_BUILT_GIB, unit="GiB")] = 200
    """Size of the image's root volume in GiB. Default: 200."""
    regions: Sequence[Annotated[str, RegionName()]] = ()
    """Regions that it is copied to. Default - the stack's alone."""
    schedule: (
        Annotated[
            str,
            Schedule(longest=1024, forms=("cron", "rate"), examples=("cron(0 4 ? * SUN *)", "rate(7 days)")),
        ]
        | None
    ) = None
    """When it is built anew, as ``cron(0 4 ? * SUN *)`` or ``rate(7 days)``, if the base has changed; not for plain
    Ubuntu, which is of one day, and AMIs of yours: they do not change. Default - when it is asked."""
    while_deploying: bool = False
    """Whether it is built while the stack is deployed, which then takes about an hour. Default: false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NodeImage:
    """The machine image of nodes: one of dlami, ami_id, parameter and build."""

    dlami: Annotated[str, DlamiName()] | None = None
    """The newest AWS Deep Learning AMI of a kind, as it is when the stack is deployed; plain Ubuntu is a base of
    ``build``. Default - another one says."""
    ami_id: Annotated[str, AMI] | None = None
    """An AMI of yours: with the AWS CLI, the EFA software, a Lustre client and drivers. Default - another one says."""
    parameter: (
        Annotated[
            str,
            Text(
                pattern=r"(/[A-Za-z0-9_.-]+){1,15}|(?![aA][wW][sS]|[sS][sS][mM])[A-Za-z0-9_.-]+",
                words="the name of a parameter of Parameter Store, which begins with '/' where it has one, has 15 at "
                "most, and without any does not begin with 'aws' or 'ssm'",  # SSM, PutParameter (botocore)
                example="/images/training",
                longest=1011,
            ),
        ]
        | None
    ) = None
    """The parameter of Parameter Store that holds an AMI's id when the stack is deployed. Default - another one says.
    """
    build: "Annotated[TrainingImage | None, InFile(TrainingImageSpec)]" = None
    """An image that is built here. One that is built while the stack is deployed gives its AMI; of another, every new
    node takes the newest that its pipeline has made, or the base while it has made none. Default - another one says."""
    architecture: Annotated[Literal["x86_64", "arm64"], ARCHITECTURE] | None = None
    """Architecture of ami_id or parameter. Default - not known; a wrong one fails at launch."""
    user: UserName | None = None
    """Who people and jobs work as on ami_id or parameter. Default - ubuntu."""

    @property
    def said_build(self) -> TrainingImageSpec | None:
        """What a file says of the image that is built; a `TrainingImage` has been judged by itself."""
        build: object = self.build
        return build if isinstance(build, TrainingImageSpec) else None
