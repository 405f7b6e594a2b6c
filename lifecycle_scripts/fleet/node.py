#!/usr/bin/env python3
"""Say what this node is and who its fellows are, from ``settings.json``, the instance's metadata and EC2's answers.

Written for the Python of the nodes (3.8 and newer), without any dependency.
Exit codes: 0; 75 when waiting may help (the metadata service does not answer yet); 65 when it cannot.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from ipaddress import ip_address
from pathlib import Path
from typing import Any

VERSION = 1
ROLES = ("worker", "master")
DEVICES = ("efa_interfaces", "neuron_devices", "neuron_cores", "gpus", "cores")
_METADATA = "http://169.254.169.254/latest"
_EX_DATAERR = 65
_EX_TEMPFAIL = 75
_SECONDS = 5
_EVENTS_BYTES = 900_000  # PutLogEvents takes 1,048,576 bytes, counted with 26 for each event
_EVENT_BYTES = 26
_EVENTS = 9_000


class NotYetError(Exception):
    """The node cannot say yet."""


class WrongError(Exception):
    """What was written cannot be right, now or later."""


def load(path: Path) -> dict[str, Any]:
    """Read the settings that user data has written."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WrongError(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise WrongError(f"{path} must be an object of version {VERSION}")
    if content.get("role") not in ROLES:
        raise WrongError(f"the role in {path} must be one of {ROLES}, got {content.get('role')!r}")
    return content


def metadata(base: str, *names: str) -> list[str]:
    """Ask the instance's metadata service (IMDSv2)."""
    headers = {}
    try:
        if base.startswith("http"):
            lifetime = {"X-aws-ec2-metadata-token-ttl-seconds": "300"}
            headers = {"X-aws-ec2-metadata-token": _ask(f"{base}/api/token", lifetime, method="PUT")}
        return [_ask(f"{base}/meta-data/{name}", headers) for name in names]
    except OSError as error:
        raise NotYetError(f"the metadata service does not answer: {error}") from error


def _ask(url: str, headers: dict[str, str], method: str = "GET") -> str:
    from urllib.request import Request, urlopen  # noqa: PLC0415  half of a start, and most starts ask nothing

    asking = Request(url, headers=headers, method=method)  # noqa: S310  the link-local address, or a test's folder
    with urlopen(asking, timeout=_SECONDS) as answer:  # noqa: S310  as above
        return str(answer.read().decode().strip())


def facts(settings: dict[str, Any], base: str) -> dict[str, Any]:
    """Return everything that the steps ask about this node."""
    instance, kind, address, host = metadata(base, "instance-id", "instance-type", "local-ipv4", "local-hostname")
    lustre = settings.get("lustre") or {}
    own = devices(settings, kind)
    return {
        "fleet": settings.get("fleet"),
        "role": settings["role"],
        "region": settings.get("region"),
        "instance": instance,
        "instance_type": kind,
        "address": address,
        "host": host.split(".")[0],
        "user": settings.get("user"),
        "key_parameter": settings.get("key_parameter"),
        "log_group": settings.get("log_group"),
        "hook": settings.get("hook"),
        "failures": settings.get("failures"),
        "lustre_dns_name": lustre.get("dns_name"),
        "lustre_mount_name": lustre.get("mount_name"),
        "lustre_mount_path": lustre.get("mount_path"),
        **(settings.get("metrics") or {}),
        **{name: own.get(name, 0) for name in DEVICES},
    }


def devices(settings: dict[str, Any], kind: str) -> dict[str, int]:
    """Return the device counts of a type; a type that the settings do not know has nothing to count."""
    return dict((settings.get("instance_types") or {}).get(kind) or {})


def members(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the running members of an answer of DescribeInstances, by address."""
    found = [node for group in answer.get("Reservations") or [] for node in group.get("Instances") or []]
    with_address = [node for node in found if node.get("PrivateIpAddress")]
    return sorted(with_address, key=lambda node: ip_address(node["PrivateIpAddress"]))


def tag(node: dict[str, Any], key: str) -> str:
    """Return one tag's value, or an empty text."""
    return next((str(one["Value"]) for one in node.get("Tags") or [] if one.get("Key") == key), "")


def slots(settings: dict[str, Any], kind: str) -> int:
    """Return the processes that a node of a type takes: one for each GPU, NeuronCore or core."""
    own = devices(settings, kind)
    return own.get("gpus") or own.get("neuron_cores") or own.get("cores") or 1


def hostfile(settings: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    """Return the lines of MPI's hostfile: the workers."""
    return [
        f"{node['PrivateIpAddress']} slots={slots(settings, str(node.get('InstanceType')))}"
        for node in members(answer)
        if tag(node, "trainyard:role") != "master"
    ]


def hosts(answer: dict[str, Any]) -> list[str]:
    """Return the addresses of all members, the master's last."""
    ordered = sorted(members(answer), key=lambda node: tag(node, "trainyard:role") == "master")
    return [str(node["PrivateIpAddress"]) for node in ordered]


def ssh_config(settings: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    """Return how members are reached: with the fleet's key, and only when the fleet has signed their host key."""
    found = hosts(answer)
    if not found:
        return ["# nobody is ready yet"]
    return [
        f"Host {' '.join(found)}",
        f"  User {settings['user']}",
        "  IdentityFile /etc/trainyard/ssh/id_ed25519",
        "  IdentitiesOnly yes",
        "  StrictHostKeyChecking yes",
        "  GlobalKnownHostsFile /etc/trainyard/ssh/known_hosts",
        "  UserKnownHostsFile /dev/null",
        "  LogLevel ERROR",
        "  ServerAliveInterval 15",  # a member that dies without a word ends its job within a minute
        "  ServerAliveCountMax 4",
    ]


def events(log: Path) -> list[dict[str, Any]]:
    """Return the end of a log as CloudWatch Logs takes it in one call."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    kept: list[str] = []
    room = _EVENTS_BYTES
    for line in reversed(lines[-_EVENTS:]):
        room -= len(line.encode()) + _EVENT_BYTES
        if room < 0:
            break
        kept.append(line or " ")  # an empty message is refused
    now = int(time.time() * 1000)
    return [{"timestamp": now, "message": line} for line in reversed(kept)]


def main(arguments: list[str]) -> int:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, required=True)
    parser.add_argument("what", choices=["facts", "setting", "hostfile", "hosts", "ssh-config", "events"])
    parser.add_argument("argument", nargs="?")
    chosen = parser.parse_args(arguments)
    try:
        settings = load(chosen.settings)
        if chosen.what == "events":
            lines = [json.dumps(events(Path(chosen.argument)))]
        elif chosen.what == "setting":
            lines = [str(settings[chosen.argument])]
        elif chosen.what == "facts":
            found = facts(settings, os.environ.get("TRAINYARD_METADATA", _METADATA))
            lines = [f"{key}={'' if value is None else value}" for key, value in found.items()]
        else:
            answer = json.load(sys.stdin)
            lines = {
                "hostfile": lambda: hostfile(settings, answer),
                "hosts": lambda: hosts(answer),
                "ssh-config": lambda: ssh_config(settings, answer),
            }[chosen.what]()
    except NotYetError as error:
        sys.stderr.write(f"{error}\n")
        return _EX_TEMPFAIL
    except WrongError as error:
        sys.stderr.write(f"{error}\n")
        return _EX_DATAERR
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
