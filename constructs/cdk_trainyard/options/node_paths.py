"""Paths on nodes: where something may be mounted."""

import re
from dataclasses import dataclass
from typing import Any, Final

from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.problems import Flaw, shown


@dataclass(frozen=True, kw_only=True, slots=True)
class NodePath:
    """A path on a node: absolute, in normal form, and in no directory that the system or its Slurm lives in.

    Attributes:
        hidden: Whether its parts may begin with '.'.
        trees: Directories that the nodes have beside those of every system.
    """

    hidden: bool = True
    trees: tuple[str, ...] = ()

    def problem(self, value: Any, _environment: Environment) -> Flaw | None:
        """Look at each of its parts."""
        if len(longest := max(value.split("/"), key=len)) > _NAME_MAX:
            return Flaw(f"must have parts of at most {_NAME_MAX} characters", got=f"{len(longest)} in {shown(longest)}")
        if re.fullmatch(NODE_PATH, value) is None or len(value) > _NODE_PATH_LENGTH:
            form = "an absolute path of letters, digits, '.', '_' and '-' without a slash at the end, as /fsx"
            return Flaw(f"must be {form}", got=shown(value))
        if {".", ".."} & set(value.split("/")):
            return Flaw("must be written without '.' and '..' as parts", got=shown(value))
        if "/." in value and not self.hidden:
            return Flaw("must have no part that begins with '.'", got=shown(value))
        trees = (*_TAKEN_TREES, *self.trees)
        in_tree = any(f"{value}/".startswith(f"{tree}/") for tree in trees) and not _OF_THE_SITE.match(value)
        taken = in_tree or value == "/opt" or ".ssh" in value.split("/")  # the last is where sshd_config(5) has keys
        return Flaw("must not be in a directory of the system", got=shown(value)) if taken else None

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        form = NODE_PATH if self.hidden else NODE_PATH.replace("/", r"/(?!\.)", 1)
        return {"pattern": f"^(?:{form})$", "maxLength": _NODE_PATH_LENGTH, "examples": ["/fsx"]}


NODE_PATH: Final = r"(/[a-zA-Z0-9._-]{1,255})+"
_NODE_PATH_LENGTH: Final = 1024
"""Characters (``ClusterFsxLustreConfig.MountPath`` of SageMaker's API, whose CloudFormation type allows no trailing and
no double slash)."""
_NAME_MAX: Final = 255
"""Of Linux (limits.h, path_resolution(7)), whose names on Lustre and on ext4 are as long at most."""
_TAKEN_TREES: Final = (
    *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/root", "/run", "/sbin"),
    *("/snap", "/sys", "/tmp", "/usr", "/var"),  # noqa: S108  names, which nobody writes to
    *("/opt/amazon", "/opt/aws", "/opt/dlami", "/opt/nvidia", "/opt/pytorch", "/opt/slurm"),
)
"""Filesystem Hierarchy Standard 3.0; where images have agents, as that of SSM in /snap, EFA, Slurm, local disks and
PyTorch ("Deep Learning AMI release notes")."""
ON_HYPERPOD: Final = NodePath(trees=("/opt/ml",))
"""The same where HyperPod has its configuration (SageMaker developer guide, "Base lifecycle scripts")."""
_OF_THE_SITE: Final = re.compile(
    r"/usr/local/(?!(aws-cli|bin|cuda[^/]*|etc|games|include|lib(32|64|exec|x32)?|man|sbin|share|src)(/|$))"
)
"""Filesystem Hierarchy Standard 3.0, section 4.9: software "shareable amongst a group of hosts, but not found in /usr",
beside the directories that are there; of images, CUDA and the AWS CLI."""
