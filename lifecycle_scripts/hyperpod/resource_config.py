#!/usr/bin/env python3
"""Say what this node is, from HyperPod's ``resource_config.json`` and the cluster's ``settings.json``.

Written for the Python of the nodes (3.8 and newer), without any dependency. Prints ``key=value`` lines for the shell.
Exit codes: 0; 75 when waiting may help (no file yet or half of it, no address yet, this node not listed yet); 65 when
it cannot.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import time
from pathlib import Path
from typing import Any

VERSION = 1
ROLES = ("controller", "login", "compute")
_EX_DATAERR = 65
_EX_TEMPFAIL = 75
_NOT_ASKED = ("version", "cluster_name", "groups")  # of settings.json: what no step asks by this name
_SHOWN = 8  # addresses in a message
_LOOKS = 5  # at a file that is being written
_PAUSE_SECONDS = 0.2


class NotYetError(Exception):
    """The node cannot say yet: HyperPod's agent or the network is not ready."""


class WrongError(Exception):
    """What was written cannot be right, now or later."""


class NotJsonError(WrongError):
    """A file is not JSON, at least not yet."""


def own_address() -> str:
    """Return the address that this node's packets leave from; none is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("10.254.254.254", 1))
        except OSError as error:
            raise NotYetError(f"the node has no address yet ({error})") from error
        return str(probe.getsockname()[0])


def load(path: Path) -> dict[str, Any]:
    """Read a JSON object."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NotYetError(f"{path} does not exist") from error
    except ValueError as error:
        raise NotJsonError(f"{path} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise WrongError(f"{path} must hold a JSON object, got {type(content).__name__}")
    return content


def load_config(path: Path) -> dict[str, Any]:
    """Read HyperPod's file. Its agent writes it again whenever the cluster changes, and half of it is no mistake."""
    for look in range(_LOOKS):
        if look:
            time.sleep(_PAUSE_SECONDS)
        try:
            return load(path)
        except NotJsonError as error:
            told = str(error)
    raise NotYetError(told)


def instances(group: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a group's instances; HyperPod writes null, or nothing, for an empty group."""
    return list(group.get("Instances") or [])


def find_node(config: dict[str, Any], address: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the group and the instance that have this address."""
    groups = config.get("InstanceGroups") or []
    for group in groups:
        for instance in instances(group):
            if instance.get("CustomerIpAddress") == address:
                return group, instance
    known = sorted(str(node.get("CustomerIpAddress")) for group in groups for node in instances(group))
    listed = ", ".join(known[:_SHOWN]) + (" ..." if len(known) > _SHOWN else "") or "no node at all"
    raise NotYetError(f"this node ({address}) is not in resource_config.json, which lists {listed}")


def group_settings(settings: dict[str, Any], name: str) -> dict[str, Any]:
    """Return what ``settings.json`` says of a group."""
    if settings.get("version") != VERSION:
        raise WrongError(f"settings.json must have version {VERSION}, got {settings.get('version')!r}")
    groups = settings.get("groups") or {}
    if name not in groups:
        known = ", ".join(sorted(groups)) or "no group at all"
        raise WrongError(f"settings.json must name the instance group '{name}', got {known}")
    found = dict(groups[name])
    if found.get("role") not in ROLES:
        raise WrongError(f"the role of the instance group '{name}' must be one of {ROLES}, got {found.get('role')!r}")
    return found


def controllers(config: dict[str, Any], settings: dict[str, Any]) -> list[str]:
    """Return the addresses of the controllers: of the controller groups, else what HyperPod's agent wrote."""
    roles = settings.get("groups") or {}
    found = [
        str(node["CustomerIpAddress"])
        for group in config.get("InstanceGroups") or []
        if (roles.get(group.get("Name")) or {}).get("role") == "controller"
        for node in instances(group)
    ]
    slurm = (config.get("ClusterConfig") or {}).get("SlurmConfig") or {}
    written = [slurm.get("PrimaryControllerIp"), *(slurm.get("SecondaryControllerIps") or [])]
    return found or [str(address) for address in written if address]


def hosts(config: dict[str, Any], settings: dict[str, Any]) -> list[str]:
    """Return the host names of the nodes that run jobs: HyperPod makes them of the address."""
    roles = settings.get("groups") or {}
    return [
        "ip-" + str(node["CustomerIpAddress"]).replace(".", "-")
        for group in config.get("InstanceGroups") or []
        if (roles.get(group.get("Name")) or {}).get("role") == "compute"
        for node in instances(group)
    ]


def shared(settings: dict[str, Any]) -> str:
    """Return where the file system is mounted that all nodes share; nothing when there is none."""
    mounts = [settings.get(kind) or {} for kind in ("lustre", "openzfs")]
    return next((str(mount["mount_path"]) for mount in mounts if "mount_path" in mount), "")


def devices(group: dict[str, Any], instance_type: str) -> dict[str, int]:
    """Return the device counts of the node's type; a type that the settings do not know has nothing to count."""
    kinds = group.get("instance_types") or {}
    return dict(kinds.get(instance_type) or (next(iter(kinds.values())) if len(kinds) == 1 else {}))


def flat(name: str, value: Any) -> dict[str, Any]:
    """Return a setting as keys and texts for the shell.

    True is ``yes``, false and null are empty. A list of words is joined with spaces. An object is ``yes`` under its own
    name, and each of its fields under ``name_field``; a list of objects is their number, and ``name_0_field``.
    """
    found: dict[str, Any] = {name: value}
    if isinstance(value, dict):
        found[name] = "yes"
        for key, inner in value.items():
            found.update(flat(f"{name}_{key}", inner))
    elif isinstance(value, list) and any(isinstance(inner, dict) for inner in value):
        found[name] = len(value)
        for number, inner in enumerate(value):
            found.update(flat(f"{name}_{number}", inner))
    elif isinstance(value, list):
        found[name] = " ".join(str(inner) for inner in value)
    elif isinstance(value, bool):
        found[name] = "yes" if value else ""
    if "\n" in str(found[name]):
        raise WrongError(f"settings.json must hold single lines, got several in '{name}'")
    return found


def facts(config: dict[str, Any], settings: dict[str, Any], address: str) -> dict[str, Any]:
    """Return everything that the steps ask about this node."""
    group, instance = find_node(config, address)
    own = group_settings(settings, str(group.get("Name")))
    heads = controllers(config, settings)
    if not heads:
        raise NotYetError("resource_config.json lists no controller yet")
    instance_type = str(instance.get("InstanceType") or group.get("InstanceType") or "")
    cluster = config.get("ClusterConfig") or {}
    asked = {name: value for name, value in settings.items() if name not in _NOT_ASKED}
    return {
        **{key: value for name, field in asked.items() for key, value in flat(name, field).items()},
        "cluster": settings.get("cluster_name") or cluster.get("ClusterName"),
        "group": group.get("Name"),
        "role": own["role"],
        "instance": instance.get("InstanceName"),
        "instance_type": instance_type,
        "address": address,
        "controllers": ",".join(heads),
        "shared": shared(settings),
        **{name: devices(own, instance_type).get(name, 0) for name in ("efa_interfaces", "neuron_devices", "gpus")},
    }


def main(arguments: list[str]) -> int:
    """Print the facts of this node."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--settings", type=Path, required=True)
    parser.add_argument("--address", help="instead of this machine's own")
    parser.add_argument("--hosts", action="store_true", help="print the nodes that run jobs instead")
    chosen = parser.parse_args(arguments)
    try:
        settings = load(chosen.settings)
        if chosen.hosts:
            sys.stdout.write("".join(f"{host}\n" for host in hosts(load_config(chosen.config), settings)))
            return 0
        found = facts(load_config(chosen.config), settings, chosen.address or own_address())
    except NotYetError as error:
        sys.stderr.write(f"{error}\n")
        return _EX_TEMPFAIL
    except WrongError as error:
        sys.stderr.write(f"{error}\n")
        return _EX_DATAERR
    for key, value in found.items():
        sys.stdout.write(f"{key}={'' if value is None else value}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
