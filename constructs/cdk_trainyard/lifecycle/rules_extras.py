"""What can be wrong with what nodes have beside mounts, users and Slurm. Pure: nothing is created here."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.lifecycle.node_extras import Exporters, S3Mount
from cdk_trainyard.lifecycle.settings import GroupRole, NodeSettings, find_type
from cdk_trainyard.lifecycle.tools import ARCHITECTURES, NodeTool, ToolFile, pinned_architectures
from cdk_trainyard.tokens import unresolved

_PATH = re.compile(r"(/[A-Za-z0-9._-]+)+")
_PREFIX = re.compile(r"([A-Za-z0-9._=-]+/)+")
_GROUP = re.compile(r"[a-z_][a-z0-9_-]{0,31}")  # groupadd(8)
_PINNED = re.compile(r"[A-Za-z0-9._-]+(\[[a-z0-9,_-]+\])?==[A-Za-z0-9.!+_-]+")
_DIGEST = re.compile(r"[a-z0-9][a-zA-Z0-9./:_-]*@sha256:[0-9a-f]{64}")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_HTTPS = re.compile(r"https://[A-Za-z0-9.-]+(:\d+)?(/[^\s?#'\"\\%]*)?")
_KEY = re.compile(r"[A-Za-z0-9!_.*()/=+-]+")
_PORTS = (1024, 65535)
_HINTS = {
    NodeTool.PAM_SLURM_ADOPT: (
        ": build contribs/pam_slurm_adopt of the image's own Slurm version, or set 'in_image' of 'pam_slurm_adopt' "
        "to True for an image of yours that has the module"
    )
}
_SYSTEM = [
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib64",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "sys",
    "tmp",
    "usr",
    "var",
]


def extras_problems(settings: NodeSettings) -> list[str]:
    """Everything that is wrong with what the nodes are to have beside mounts, users and Slurm.

    Args:
        settings: What the scripts are told; the instance types of its groups decide what can be offered.
    """
    return [problem for rule in _RULES for problem in rule(settings)]


def container_problems(settings: NodeSettings) -> list[str]:
    """Check that something is asked for, and that Pyxis has what it runs containers with."""
    asked = settings.setup.containers
    if asked is None:
        return []
    if not (asked.docker or asked.enroot or asked.pyxis):
        return ["'containers' must ask for Docker, Enroot or Pyxis, got none; leave it out"]
    if asked.pyxis and not asked.enroot:
        return ["'pyxis' must be False when 'enroot' is False, got True: Pyxis runs containers with Enroot"]
    return []


def neuron_environment_problems(settings: NodeSettings) -> list[str]:
    """Check that there are Neuron devices, a shared place, and exact versions."""
    asked = settings.setup.neuron_environment
    if asked is None:
        return []
    problems = _needs_device(settings, AcceleratorKind.NEURON, "neuron_environment", "Neuron devices")
    if asked.path is None and settings.lustre is None:
        problems.append("'path' of 'neuron_environment' must be given when there is no shared file system, got none")
    problems += _path_problems("path' of 'neuron_environment", asked.path)
    problems += [
        (f"'packages' of 'neuron_environment' must name exact versions, as 'neuronx-cc==2.22.12471.0', got {package!r}")
        for package in asked.packages
        if not unresolved(package) and not _PINNED.fullmatch(package)
    ]
    if asked.index is not None and not unresolved(asked.index) and not _HTTPS.fullmatch(asked.index):
        problems.append(
            "'index' of 'neuron_environment' must begin with https:// and hold no password, blank or query; "
            "let the index know its clients by their network"
        )
    return problems


def exporter_problems(settings: NodeSettings) -> list[str]:
    """Check ports, and that the devices are there."""
    asked = settings.setup.exporters
    if asked is None:
        return []
    problems = _port_problems(asked)
    if asked.neuron:
        problems += _needs_device(settings, AcceleratorKind.NEURON, "neuron", "Neuron devices")
    if asked.gpu:
        problems += _needs_device(settings, AcceleratorKind.GPU, "gpu", "GPUs")
    image = asked.gpu_image
    if image is not None and not asked.gpu:
        problems.append("'gpu_image' must be left out when 'gpu' is False; set 'gpu' to True, or remove it")
    if image is not None and not unresolved(image) and not _DIGEST.fullmatch(image):
        problems.append(f"'gpu_image' must name an image by its digest, as 'registry/name@sha256:…', got {image!r}")
    return problems


def s3_mount_problems(settings: NodeSettings) -> list[str]:
    """Check places and prefixes, and that no mount hides another."""
    mounts = settings.setup.s3_mounts
    problems = [problem for mount in mounts for problem in _mount_problems(mount)]
    places = [mount.path for mount in mounts if not unresolved(mount.path)]
    taken = [*places, *([settings.lustre.mount_path] if settings.lustre else [])]
    for number, place in enumerate(places):
        others = [path for index, path in enumerate(taken) if index != number and not unresolved(path)]
        above = [path for path in others if place == path or place.startswith(f"{path}/")]
        if above:
            problems.append(
                f"'path' of 's3_mounts' must not be {above[0]} or below it, which is mounted, got {place!r}"
            )
    return problems


def pam_slurm_adopt_problems(settings: NodeSettings) -> list[str]:
    """Check the names of groups."""
    asked = settings.setup.pam_slurm_adopt
    return [
        f"'admin_groups' must be names of groups, got {group!r}"
        for group in (asked.admin_groups if asked else ())
        if not unresolved(group) and not _GROUP.fullmatch(group)
    ]


def tool_problems(settings: NodeSettings) -> list[str]:
    """Check files of tools, and that there is one for every processor that needs it."""
    tools = settings.setup.tools
    problems = [problem for file in tools for problem in _file_problems(file)]
    given = [(file.tool, file.architecture) for file in tools]
    problems += [
        f"'tools' must have one file of {tool.value} for {architecture}, got {given.count((tool, architecture))}"
        for tool, architecture in sorted(set(given))
        if given.count((tool, architecture)) > 1
    ]
    for tool, keyword, roles in _never_in_the_image(settings):
        for architecture, groups in _groups_by_architecture(settings, roles).items():
            if (tool, architecture) not in given and architecture not in pinned_architectures(tool):
                problems.append(
                    f"'tools' must have a file of {tool.value} for {architecture}, on which nodes of "
                    f"{', '.join(map(repr, groups))} run, when '{keyword}' is given; none is pinned"
                    f"{_HINTS.get(tool, '')}"
                )
    return problems


_RULES: tuple[Callable[[NodeSettings], list[str]], ...] = (
    container_problems,
    neuron_environment_problems,
    exporter_problems,
    s3_mount_problems,
    pam_slurm_adopt_problems,
    tool_problems,
)


def _kinds(settings: NodeSettings) -> list[InstanceType] | None:
    """Return the instance types of all groups, or None when one is not known before deployment."""
    found = [find_type(kind) for group in settings.groups for kind in group.instance_types]
    return None if None in found else [kind for kind in found if kind]


def _needs_device(settings: NodeSettings, kind: AcceleratorKind, keyword: str, words: str) -> list[str]:
    types = _kinds(settings)
    if types is None or any(device.kind is kind for entry in types for device in entry.accelerators):
        return []
    names = ", ".join(dict.fromkeys(entry.sagemaker_name for entry in types))
    return [f"'{keyword}' must be left out when no instance type has {words}, got {names}"]


def _groups_by_architecture(settings: NodeSettings, roles: Collection[GroupRole]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for group in settings.groups:
        kinds = [kind for kind in map(find_type, group.instance_types) if kind and group.role in roles]
        for architecture in dict.fromkeys(kind.architecture for kind in kinds):
            found.setdefault(architecture, []).append(group.name)
    return found


def _never_in_the_image(settings: NodeSettings) -> Iterator[tuple[NodeTool, str, Collection[GroupRole]]]:
    setup = settings.setup
    if setup.s3_mounts:
        yield NodeTool.MOUNTPOINT, "s3_mounts", list(GroupRole)
    if setup.pam_slurm_adopt and not setup.pam_slurm_adopt.in_image:
        yield NodeTool.PAM_SLURM_ADOPT, "pam_slurm_adopt", [GroupRole.COMPUTE]


def _path_problems(keyword: str, path: str | None) -> list[str]:
    if path is None or unresolved(path) or (_PATH.fullmatch(path) and path[1:] not in _SYSTEM and "/.." not in path):
        return []
    return [
        (
            f"'{keyword}' must be an absolute path of letters, digits, '.', '_' and '-', not a directory of the "
            f"system, got {path!r}"
        )
    ]


def _mount_problems(mount: S3Mount) -> Sequence[str]:
    problems = _path_problems("path' of 's3_mounts", mount.path)
    if mount.prefix and not unresolved(mount.prefix) and not _PREFIX.fullmatch(mount.prefix):
        problems.append(
            "'prefix' of 's3_mounts' must be a key prefix of letters, digits, '.', '_', '=' and '-' with a slash at "
            f"its end and none at its beginning, got {mount.prefix!r}"
        )
    return problems


def _port_problems(asked: Exporters) -> list[str]:
    used = [
        ("port", asked.port),
        *([("neuron_port", asked.neuron_port)] if asked.neuron else []),
        *([("gpu_port", asked.gpu_port)] if asked.gpu else []),
    ]
    known = [(keyword, port) for keyword, port in used if not unresolved(port)]
    low, high = _PORTS
    problems = [
        f"'{keyword}' must be a port from {low} to {high}, got {port}"
        for keyword, port in known
        if not low <= port <= high
    ]
    for number, (keyword, port) in enumerate(known):
        same = [other for other, taken in known[:number] if taken == port]
        if same:
            problems.append(f"'{keyword}' must be another port than '{same[0]}', got {port}")
    return problems


def _file_problems(file: ToolFile) -> list[str]:
    name = f"'tools', {file.tool.value}:"
    problems = []
    if file.architecture not in ARCHITECTURES:
        problems.append(f"{name} 'architecture' must be one of {', '.join(ARCHITECTURES)}, got {file.architecture!r}")
    if not unresolved(file.sha256) and not _SHA256.fullmatch(file.sha256):
        problems.append(f"{name} 'sha256' must be 64 hexadecimal digits, got {file.sha256!r}")
    if (file.url is None) == (file.bucket is None) or (file.bucket is None) != (file.key is None):
        problems.append(f"{name} 'url' must be given, or both 'bucket' and 'key', and not all of them")
    if file.url is not None and not unresolved(file.url) and not _HTTPS.fullmatch(file.url):
        problems.append(f"{name} 'url' must begin with https:// and hold no password, blank or query")
    if file.key is not None and not unresolved(file.key) and not _KEY.fullmatch(file.key):
        problems.append(f"{name} 'key' must be an object's key without blanks, got {file.key!r}")
    return problems
