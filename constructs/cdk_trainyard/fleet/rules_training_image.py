"""Whether an image can be built. Pure: nothing is created here."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cdk_trainyard.fleet.rules_template import type_problems
from cdk_trainyard.instances import InstanceType
from cdk_trainyard.tokens import unresolved
from cdk_trainyard.versions import Judgement, image_facts, judge_build

if TYPE_CHECKING:
    from cdk_trainyard.fleet.image import NodeImage

_VERSION = re.compile(r"\d+\.\d+\.\d+")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_BRANCH = re.compile(r"\d{3}")
_SCHEDULE = re.compile(r"(cron|rate)\(.+\)")


def training_image_problems(
    *,
    base: "NodeImage",
    instance_type: str | InstanceType,
    efa_version: str,
    efa_sha256: str | None,
    efa_kept: bool,
    nvidia_branch: str | None,
    families: Sequence[str],
    schedule: str | None,
    has_way_out: bool,
) -> list[str]:
    """Everything that would end a build."""
    problems = [
        *type_problems(instance_type),
        *_form("version", efa_version, _VERSION, "a version of the EFA installer as '1.50.0'"),
        *_form("sha256", efa_sha256, _SHA256, "the SHA-256 of the EFA installer's archive, 64 hex digits"),
        *_form("nvidia_branch", nvidia_branch, _BRANCH, "a branch as '580'"),
        *_form("schedule", schedule, _SCHEDULE, "as 'cron(0 4 ? * SUN *)' or 'rate(7 days)'"),
    ]
    kind = InstanceType.find(instance_type)
    if kind is not None and base.architecture not in {None, kind.architecture}:
        problems.append(
            f"'instance_type' must be one of {base.architecture}, the architecture of the base {base.name!r}, "
            f"got {kind.name} of {kind.architecture}"
        )
    if nvidia_branch is not None and base.user != "ubuntu":
        problems.append(f"'nvidia_branch' must be left out with {base.name!r}: the driver comes from Ubuntu's packages")
    if not problems:
        problems += build_judgement(base, efa_version, nvidia_branch, families, efa_kept=efa_kept).refused
    if not has_way_out:
        problems.append("'network' must have NAT: the build fetches packages from outside, got one without")
    return problems


def keeps_efa(base: "NodeImage", *, given: bool) -> bool:
    """Return whether a base has an EFA of its own, which stays: a Deep Learning AMI that is told no installer.

    Args:
        base: The base.
        given: Whether an installer is given.
    """
    return not given and base.families != ()


def build_judgement(
    base: "NodeImage", efa_version: str, nvidia_branch: str | None, families: Sequence[str], *, efa_kept: bool
) -> Judgement:
    """Judge what is installed, against the kernel of the base.

    Args:
        base: The base.
        efa_version: The version of the EFA installer.
        nvidia_branch: The branch of NVIDIA's driver. None: the base has one.
        families: Families of instance types that the image is for.
        efa_kept: Whether the base's EFA stays.
    """
    if unresolved(base.name, efa_version, nvidia_branch):
        return Judgement()
    facts = image_facts(base.name)
    if facts is None:
        said = (
            f"no source says which kernel {base.name!r} has, so whether EFA and Lustre fit it is seen when it is built"
        )
        return Judgement(unknown=(said,))
    return judge_build(
        facts, efa_installer=None if efa_kept else efa_version, nvidia_branch=nvidia_branch, families=families
    )


def _form(keyword: str, value: str | None, pattern: re.Pattern[str], wanted: str) -> list[str]:
    if value is None or unresolved(value) or pattern.fullmatch(value):
        return []
    return [f"{keyword!r} must be {wanted}, got {value!r}"]
