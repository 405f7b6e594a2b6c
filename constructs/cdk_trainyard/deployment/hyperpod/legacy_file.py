"""What is wrong with a legacy topology file in a folder of scripts: ``provisioning_parameters.json``.

Its form is that of AWS's page ("SageMaker HyperPod references", SageMaker developer guide, read 2026-11), which says
what is required; what else stands in it, scripts may read.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cdk_trainyard.deployment.hyperpod.section import GroupSection
from cdk_trainyard.errors import did_you_mean, nearest
from cdk_trainyard.hyperpod.rules_cluster import PARTITION_IN_SLURM
from cdk_trainyard.lifecycle.settings import LEGACY_FILE
from cdk_trainyard.lifecycle.spec import GroupRole
from cdk_trainyard.options.kinds import NOWHERE
from cdk_trainyard.problems import At, Problem, shown
from cdk_trainyard.tokens import unresolved

_KEPT: Final = {"version": "1.0.0", "workload_manager": "slurm"}
_NEEDED: Final = ("controller_group", "worker_groups")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_Named = Mapping[str, tuple[Any, GroupRole]]
"""What the file names as a group, and the role that it has there, by the path in the file."""


def legacy_file_problems(data: bytes, groups: Sequence[GroupSection], at: At) -> Iterator[Problem]:
    """Check that HyperPod can read the file, and that it says what the deployment's groups are.

    Args:
        data: The file's bytes.
        groups: The groups that have names.
        at: Where the deployment file names the folder.
    """
    content, text = _read(data)
    if content is None:
        yield Problem(at, text)
        return
    named = _named(content)
    for text in (*_form_texts(content), *_group_texts(named, groups)):
        yield Problem(at, text)
    yield from _partition_problems(content, groups)


def _read(data: bytes) -> tuple[Mapping[str, Any] | None, str]:
    """Return what the file says, or what is wrong with it as a whole."""
    if data.startswith(_BYTE_ORDER_MARK):
        return None, f"must hold {LEGACY_FILE} without a byte order mark, got one; save it without"
    try:
        content = json.loads(data.decode())
    except json.JSONDecodeError as error:
        where = f"{LEGACY_FILE}:{error.lineno}:{error.colno}"
        return None, f"must hold {LEGACY_FILE} as JSON, got something else at {where}"
    except (UnicodeDecodeError, RecursionError):
        return None, f"must hold {LEGACY_FILE} as JSON in UTF-8, got something else"
    if not isinstance(content, Mapping):
        return None, f"must hold {LEGACY_FILE} with one object in it, got {shown(content)}"
    return content, ""


def _workers(content: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    found = content.get("worker_groups")
    listed = enumerate(found) if isinstance(found, list) else ()
    return {f"worker_groups[{index}]": each if isinstance(each, Mapping) else {} for index, each in listed}


def _named(content: Mapping[str, Any]) -> _Named:
    roles = {"controller_group": GroupRole.CONTROLLER, "login_group": GroupRole.LOGIN}
    named = {name: (content[name], role) for name, role in roles.items() if name in content}
    workers = {f"{path}.instance_group_name": worker for path, worker in _workers(content).items()}
    return named | {path: (worker.get("instance_group_name"), GroupRole.COMPUTE) for path, worker in workers.items()}


def _form_texts(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with what AWS's page requires."""
    for name, value in _KEPT.items():
        if content.get(name) != value:
            yield f"must hold {shown(name)} {shown(value)} in {LEGACY_FILE}, got {shown(content.get(name))}"
    own = [name for name in content if name not in {*_KEPT, *_NEEDED, "login_group"}]
    for name in _NEEDED:
        if name not in content:
            hint = "".join(f"; rename {shown(near)}" for near in nearest(name, own)[:1])
            yield f"must hold {shown(name)} in {LEGACY_FILE}, got none{hint}"
    if "worker_groups" in content and not _workers(content):
        yield f"must hold a list of one group or more as 'worker_groups' in {LEGACY_FILE}, got another"
    for path, worker in _workers(content).items():
        partition = worker.get("partition_name")
        if not isinstance(partition, str) or PARTITION_IN_SLURM.problem(partition, NOWHERE):
            words = PARTITION_IN_SLURM.words
            yield f"must hold {words}, as {path}.partition_name in {LEGACY_FILE}, got {shown(partition)}"


def _group_texts(named: _Named, groups: Sequence[GroupSection]) -> Iterator[str]:
    """Yield where the file names other groups than there are, or says that they are something else.

    AWS's own check (``validate-config.py`` of awsome-distributed-training, read 2026-11) asks only whether there are
    such groups as ``worker_groups`` names. So a group may be left out, and AWS's examples name a login group where
    there is none.
    """
    known = {group.name: group for group in groups}
    logs_in = any(unresolved(group.role) or group.role is GroupRole.LOGIN for group in groups)
    for path, (name, role) in named.items():
        group = known.get(name) if isinstance(name, str) else None
        if group is None and role is GroupRole.LOGIN and not logs_in:
            continue
        if group is None:
            hint = did_you_mean(str(name), known)
            yield f"must name groups of this file in {LEGACY_FILE}, got {shown(name)} as its {path}{hint}"
        elif not unresolved(group.role) and group.role is not role:
            yield f"must name a {role} group as {path} in {LEGACY_FILE}, got {shown(name)}, whose role is {group.role}"


def _partition_problems(content: Mapping[str, Any], groups: Sequence[GroupSection]) -> Iterator[Problem]:
    """Check that a partition that the deployment file says is the one that counts."""
    for group in groups:
        own = [each for each in _workers(content).values() if each.get("instance_group_name") == group.name]
        counting = [each.get("partition_name") for each in own]
        if own and group.partition is not None and not unresolved(group.partition) and group.partition not in counting:
            text = f"must be {shown(counting[0])}, as {LEGACY_FILE} in the folder says, got {shown(group.partition)}"
            yield Problem(("groups", group.name, "partition"), f"{text}; leave it out")
