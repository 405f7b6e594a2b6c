"""What the project's own scripts can set up on which nodes: pure functions, silent about Tokens."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cdk_trainyard.instances import AcceleratorKind, InstanceType
from cdk_trainyard.lifecycle.bundle import content_of
from cdk_trainyard.lifecycle.settings import NodeGroup, known_types
from cdk_trainyard.lifecycle.spec import (
    MYSQL_PORT,
    SLURM_PORTS,
    Exporters,
    GroupRole,
    LogRotation,
    NodeSetup,
    NodeTool,
    ToolFile,
)
from cdk_trainyard.lifecycle.tools import pinned_architectures
from cdk_trainyard.options.texts import PRIVATE_IMAGE
from cdk_trainyard.problems import At, Problem, option, shown, within
from cdk_trainyard.tokens import dummy, unresolved

_CERTIFICATE = b"-----BEGIN CERTIFICATE-----"
_USUAL = Exporters()
_OF_DEVICES = (("gpu_image", "gpu"), ("gpu_port", "gpu"), ("neuron_port", "neuron"))
"""Options of exporters that metrics of devices have alone, and these."""
_HOMES = "/home"
_USERS_HOME = "/home/ubuntu"
_HINTS = {
    NodeTool.PAM_SLURM_ADOPT: (
        f": build contribs/pam_slurm_adopt of the image's own Slurm version, or set {option('in_image')} of "
        f"{option('pam_slurm_adopt')} to true for an image of yours that has the module"
    )
}
_ASKING = {
    NodeTool.NODE_EXPORTER: ("exporters", "", True),
    NodeTool.VMAGENT: ("metrics_agent", "", True),
    NodeTool.MOUNTPOINT: ("s3_mounts", "", True),
    NodeTool.ENROOT: ("containers", "enroot", True),
    NodeTool.ENROOT_CAPS: ("containers", "enroot", True),
    NodeTool.PYXIS: ("containers", "pyxis", True),
    NodeTool.PAM_SLURM_ADOPT: ("pam_slurm_adopt", "in_image", False),
}
"""What asks for a tool: an option, and one of its own with the value at which nodes fetch the tool."""
_OF_METRICS = (NodeTool.NODE_EXPORTER, NodeTool.VMAGENT)


@dataclass(frozen=True, kw_only=True, slots=True)
class Nodes:
    """What is known of the nodes that are set up.

    Attributes:
        groups: The groups with their instance types.
        mounts: Paths at which something is mounted already: shared file systems, volumes.
        shared: Path of the shared file system. None: there is none.
        home: Home of the user ``ubuntu``. None: it stays as the image has it.
        metrics: Whether metrics go to a workspace, for which exporters and an agent are set up.
    """

    groups: Sequence[NodeGroup]
    mounts: Sequence[str] = ()
    shared: str | None = None
    home: str | None = None
    metrics: bool = False

    @property
    def set_up(self) -> list[NodeGroup]:
        """The groups that these scripts set up."""
        return [group for group in self.groups if group.runs_scripts]


def _types(groups: Sequence[NodeGroup]) -> list[InstanceType] | None:
    """Return the instance types of groups; None when one of them is not known."""
    known = [known_types(group) for group in groups]
    whole = all(len(types) == len(group.instance_types) for types, group in zip(known, groups, strict=True))
    return [kind for types in known for kind in types] if whole else None


def setup_problems(setup: NodeSetup, nodes: Nodes) -> Iterator[Problem]:
    """Yield everything that is wrong with what nodes are to be set up with.

    Args:
        setup: What was asked for.
        nodes: The nodes; their instance types decide what can be offered.
    """
    for rule in _RULES:
        yield from rule(setup, nodes)


def logs_problems(setup: NodeSetup, _nodes: Nodes) -> Iterator[Problem]:
    """Check that rotation has logs that are rotated."""
    if setup.rotate_logs is False and not unresolved(setup.logs) and setup.logs != LogRotation():
        text = f"must be left out when {option('rotate_logs')} is false: nothing would heed it"
        yield Problem(("logs",), text)


def accounting_problems(setup: NodeSetup, _nodes: Nodes) -> Iterator[Problem]:
    """Check that Slurm's accounting is in one place, and that certificates are some."""
    database = setup.accounting
    if database is None or unresolved(database):
        return
    if setup.local_accounting is True:
        text = f"must be false beside {option('accounting')}: Slurm keeps its accounting in one place"
        yield Problem(("local_accounting",), text)
    at, authority = ("accounting", "authority"), database.authority
    if authority is None or unresolved(authority):
        if isinstance(authority, str) and not dummy(authority):
            yield Problem(at, "must be known when the app is synthesized, got a Token; write the file's name")
        return
    certificates = content_of(Path(authority))
    if certificates is None:
        yield Problem(at, f"must be an existing file that can be read, got {shown(authority)}")
    elif _CERTIFICATE not in certificates:
        yield Problem(at, f"must hold certificates (PEM), got {shown(authority)} without one")


def container_problems(setup: NodeSetup, _nodes: Nodes) -> Iterator[Problem]:
    """Check that something is asked for, and that Pyxis has what it runs containers with."""
    asked = setup.containers
    if asked is None or unresolved(asked):
        return
    if not (asked.docker or asked.enroot or asked.pyxis):
        yield Problem(("containers",), "must ask for Docker, Enroot or Pyxis, got none; leave it out")
    elif asked.pyxis is True and asked.enroot is False:
        text = f"must be false when {option('enroot')} is false, got true: Pyxis runs containers with Enroot"
        yield Problem(("containers", "pyxis"), text)


def neuron_environment_problems(setup: NodeSetup, nodes: Nodes) -> Iterator[Problem]:
    """Check that there are Neuron devices and a shared place."""
    asked, at = setup.neuron_environment, ("neuron_environment",)
    if asked is None or unresolved(asked):
        return
    # whichever node is first makes it on shared storage, for all
    yield from _needs_device(nodes.groups, AcceleratorKind.NEURON, at, "instance type has Neuron devices")
    yield from _package_problems(asked.packages, (*at, "packages"))
    if asked.path is None:
        if nodes.shared is None:
            yield Problem((*at, "path"), "must be given when there is no shared file system, got none")
    elif not unresolved(asked.path):
        known = [mount for mount in nodes.mounts if not unresolved(mount)]
        ours = [_HOMES, _USERS_HOME, nodes.home, *_made(setup, nodes)]
        if around := [path for path in (*known, *ours) if path and not unresolved(path) and _is_in(path, asked.path)]:
            text = f"must not be {around[0]} or around it, got {shown(asked.path)}"
            yield Problem((*at, "path"), f"{text}; it becomes a link")
        elif inside := [
            mount.path for mount in setup.s3_mounts if not unresolved(mount.path) and _is_in(asked.path, mount.path)
        ]:
            yield Problem(
                (*at, "path"), f"must not be in {inside[0]}, where a bucket is mounted, got {shown(asked.path)}"
            )


def _made(setup: NodeSetup, nodes: Nodes) -> Iterator[str]:
    """Yield what the scripts make on shared storage for all nodes."""
    for made, name in ((setup.hostfile, "hostfile"), (setup.ssh, "ssh-hosts")):
        if nodes.shared is not None and made is True:
            yield f"{nodes.shared}/trainyard/{name}"


def _package_problems(packages: Sequence[str] | None, at: At) -> Iterator[Problem]:
    """Pip installs a package in one version, whatever the spelling of its name (PyPA, "Names and normalization")."""
    if packages is None or unresolved(packages):
        return
    if not packages:
        yield Problem(at, "must name 1 package or more, got none; leave it out for those of the Neuron SDK")
    before: set[str] = set()
    for index, package in enumerate(packages):
        if unresolved(package):
            continue
        name = re.sub(r"[-_.]+", "-", re.split(r"\[|==", package)[0]).lower()
        if name in before:
            yield Problem((*at, index), f"must be a package that is not before it, got {shown(package)}; pip takes one")
        before.add(name)


def exporter_problems(setup: NodeSetup, nodes: Nodes) -> Iterator[Problem]:
    """Check that ports differ, and that the devices are there."""
    asked, at = setup.exporters, ("exporters",)
    if asked is None or unresolved(asked):
        return
    ours = nodes.set_up
    subject = "instance type" if len(ours) == len(nodes.groups) else "type of a group that runs these scripts"
    absent = []
    for name, kind, words in (
        ("neuron", AcceleratorKind.NEURON, "Neuron devices"),
        ("gpu", AcceleratorKind.GPU, "GPUs"),
    ):
        more = with_options(name, asked)
        found = list(_needs_device(ours, kind, (*at, name), f"{subject} has {words}", more))
        absent += [name] if found else []
        yield from found if getattr(asked, name) is True else ()
    yield from within(at, exporter_option_problems(asked, absent))
    yield from within(at, slurm_port_problems(asked))
    for name, port in ports_of(asked) if setup.local_accounting is True else ():
        if not unresolved(port) and port == MYSQL_PORT:
            why = f"which MariaDB of 'local_accounting' has on the controller, got {shown(port)}"
            yield Problem((*at, name), f"must be another port than {MYSQL_PORT}, {why}")


def with_options(device: str, asked: Exporters) -> str:
    """Return which options of an exporter go with it where it must be left out, as the end of a sentence.

    Args:
        device: The exporter.
        asked: What runs.
    """
    names = [name for name, of in _OF_DEVICES if of == device]
    said = [option(name) for name in names if getattr(asked, name) != getattr(_USUAL, name)]
    return f"; leave {' and '.join(said)} out, too" if said else ""


def exporter_option_problems(asked: Exporters, absent: Collection[str] = ()) -> Iterator[Problem]:
    """Check that ports differ, and that an image is of what runs.

    Args:
        asked: What runs.
        absent: The exporters of which no node has devices. Default - none that is known.
    """
    for name, device in _OF_DEVICES:
        said = getattr(asked, name)
        if getattr(asked, device) is False and not unresolved(said) and said != getattr(_USUAL, name):
            remedy = "remove it" if device in absent else f"set {option(device)} to true, or remove it"
            text = f"must be left out when {option(device)} is false; {remedy}"
            yield Problem((name,), text)
    used: dict[str, int] = {}
    for name, port in ports_of(asked):
        taken = next((other for other, known in used.items() if known == port and not unresolved(known)), None)
        if taken:
            yield Problem((name,), f"must be another port than {option(taken)}, got {shown(port)}")
        used[name] = port


def image_warnings(asked: Exporters | None) -> Iterator[str]:
    """Say of a private image of ECR that no script logs Docker in to it; a machine image may have a helper that does.

    Source: Amazon ECR user guide, "Private registry authentication in Amazon ECR", read 2026-11.

    Args:
        asked: What runs. None: nothing was said.
    """
    if asked is None or unresolved(asked, asked.gpu_image) or asked.gpu is not True or asked.gpu_image is None:
        return
    if PRIVATE_IMAGE.fullmatch(asked.gpu_image):
        yield (
            f"'gpu_image' {asked.gpu_image} is in a private registry of ECR, and no script logs Docker in there: use a "
            "registry that asks for no password, or machine images whose Docker has docker-credential-ecr-login, and a "
            "role of nodes that may pull it"
        )


NOT_SLURMS_PORT = f"must be another port than {SLURM_PORTS[0]} to {SLURM_PORTS[-1]}, which Slurm's daemons have"
"""What is said of a port on a node that runs Slurm."""


def slurm_port_problems(asked: Exporters) -> Iterator[Problem]:
    """Check that exporters leave Slurm's daemons their ports.

    Args:
        asked: What runs.
    """
    for name, port in ports_of(asked):
        if not unresolved(port) and port in SLURM_PORTS:
            yield Problem((name,), f"{NOT_SLURMS_PORT}, got {shown(port)}")


def ports_of(asked: Exporters) -> Iterator[tuple[str, int]]:
    """Yield the ports of the exporters that run, with the options that say them.

    Args:
        asked: What runs.
    """
    yield "port", asked.port
    if asked.neuron is True:
        yield "neuron_port", asked.neuron_port
    if asked.gpu is True:
        yield "gpu_port", asked.gpu_port


def s3_mount_problems(setup: NodeSetup, nodes: Nodes) -> Iterator[Problem]:
    """Check that no mount hides another."""
    taken = [path for path in nodes.mounts if not unresolved(path)]
    for index, mount in enumerate(setup.s3_mounts):
        place = mount.path
        if unresolved(place):
            continue
        other = next((path for path in taken if _is_in(path, place) or _is_in(place, path)), None)
        at = ("s3_mounts", index, "path")
        if place in {_HOMES, _USERS_HOME}:
            yield Problem(at, f"must not be {place}, which has the users' own directories, got {shown(place)}")
        elif other is not None:
            yield Problem(at, f"must not be {other}, in it or around it, as it is mounted, got {shown(place)}")
        taken.append(place)


def tool_problems(setup: NodeSetup, nodes: Nodes) -> Iterator[Problem]:
    """Check that each file is in one place, the one of its tool and processor, and that some node fetches it."""
    given: list[tuple[NodeTool, str]] = []
    for index, file in enumerate(setup.tools):
        at = ("tools", index)
        if unresolved(file):
            continue
        if file.url is None and file.key is None:
            yield Problem(at, f"must have {option('url')} or {option('key')}, got neither")
        elif file.url is not None and file.key is not None:
            yield Problem((*at, "url"), f"must be left out beside {option('key')}: a file is in one place")
        if file.bucket is not None and file.key is None:
            yield Problem((*at, "bucket"), f"must be left out without {option('key')} of an object in it")
        if unresolved(file.tool, file.architecture):
            continue
        if (file.tool, file.architecture) in given:
            yield Problem(at, f"must be the one file of {file.tool.value} for {file.architecture}, got a second")
        given.append((file.tool, file.architecture))
        if why := _unfetched(file, setup, nodes):
            yield Problem(at, f"must be left out {why}: no node would fetch it")


def _unfetched(file: ToolFile, setup: NodeSetup, nodes: Nodes) -> str | None:
    """Return why no node fetches a tool: none has its processor, or nothing that is known asks for it.

    Beside a file that nodes fetch, given or pinned, one for another processor may stand: many clusters can share one
    list of tools.
    """
    types = _types(nodes.set_up)
    given = [each.architecture for each in setup.tools if unresolved(each.tool) or each.tool == file.tool]
    fetched = {*given, *pinned_architectures(file.tool)}
    if types and not unresolved(*given) and fetched.isdisjoint(known.architecture for known in types):
        return f"where no node is {file.architecture}, got {', '.join(dict.fromkeys(n.sagemaker_name for n in types))}"
    name, part, wanted = _ASKING[file.tool]
    asked = getattr(setup, name)
    if unresolved(asked) or (nodes.metrics and file.tool in _OF_METRICS):
        return None
    if not asked:
        vmagent = file.tool is NodeTool.VMAGENT
        return "without metrics that go to a workspace" if vmagent else f"without {shown(name)}"
    unasked = part and getattr(asked, part) is (not wanted)
    return f"when {shown(part)} of {shown(name)} is {shown(not wanted)}" if unasked else None


def missing_tool_problems(setup: NodeSetup, nodes: Nodes) -> Iterator[Problem]:
    """Check that there is a file for every processor that needs one."""
    if any(unresolved(file.tool, file.architecture) for file in setup.tools):
        return
    given = {(file.tool, file.architecture) for file in setup.tools}
    for tool, keyword, roles in _never_in_the_image(setup):
        for architecture, groups in _groups_by_architecture(nodes, roles).items():
            if (tool, architecture) not in given and architecture not in pinned_architectures(tool):
                yield Problem(
                    ("tools",),
                    f"must have a file of {tool.value} for {architecture}, on which nodes of "
                    f"{', '.join(map(shown, groups))} run, when {option(keyword)} is given; none is pinned"
                    f"{_HINTS.get(tool, '')}",
                )


_RULES: tuple[Callable[[NodeSetup, Nodes], Iterator[Problem]], ...] = (
    logs_problems,
    accounting_problems,
    container_problems,
    neuron_environment_problems,
    exporter_problems,
    s3_mount_problems,
    tool_problems,
    missing_tool_problems,
)


def _is_in(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")


def _needs_device(
    groups: Sequence[NodeGroup], kind: AcceleratorKind, at: At, none: str, remedy: str = ""
) -> Iterator[Problem]:
    types = _types(groups)
    if not types or any(device.kind is kind for entry in types for device in entry.accelerators):
        return
    names = ", ".join(dict.fromkeys(entry.sagemaker_name for entry in types))
    yield Problem(at, f"must be left out when no {none}, got {names}{remedy}")


def _groups_by_architecture(nodes: Nodes, roles: Collection[GroupRole]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for group in nodes.set_up:
        if group.role in roles:
            for architecture in dict.fromkeys(kind.architecture for kind in known_types(group)):
                found.setdefault(architecture, []).append(group.name)
    return found


def _never_in_the_image(setup: NodeSetup) -> Iterator[tuple[NodeTool, str, Collection[GroupRole]]]:
    if setup.s3_mounts:
        yield NodeTool.MOUNTPOINT, "s3_mounts", list(GroupRole)
    asked = setup.pam_slurm_adopt
    if asked and not unresolved(asked) and asked.in_image is False:
        yield NodeTool.PAM_SLURM_ADOPT, "pam_slurm_adopt", [GroupRole.COMPUTE]
