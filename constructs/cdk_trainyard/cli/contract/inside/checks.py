"""ParallelCluster's own verdict on configurations. Runs in its own environment, never beside CDK v2.

Reads a JSON file of requests, writes a JSON file of verdicts; ``trainyard contract`` is what people call.
"""

import json
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from marshmallow import ValidationError
from pcluster.config.common import TypeMatchValidatorsSuppressor
from pcluster.config.config_patch import ConfigPatch
from pcluster.schemas.cluster_schema import ClusterSchema
from pcluster.validators.common import ValidatorContext

from cdk_trainyard.cli.contract.inside.answers import SKIPPED, Answers, Ec2, Fsx, instance_types


def check(request: dict[str, Any]) -> dict[str, Any]:
    """Judge one configuration.

    Args:
        request: ``name``, ``config``, and about the world ``subnets`` and ``key_type``; ``render`` asks for the
        template.
    """
    config = request["config"]
    os.environ["AWS_DEFAULT_REGION"] = config.get("Region") or "us-east-1"
    unknown = sorted({kind for kind in _instance_types(config) if kind not in instance_types()})
    verdict: dict[str, Any] = {"errors": [], "warnings": [], "unknown_instance_types": unknown}
    ec2 = Ec2(
        request.get("subnets", {}),
        _reservations(config),
        _subnet(config.get("HeadNode"), "SubnetId"),
        os.environ["AWS_DEFAULT_REGION"],
        request.get("key_type", "ed25519"),
    )
    Answers(ec2, Fsx(_subnet(next(iter(_queues(config)), None), "SubnetIds"))).use()
    try:
        cluster = ClusterSchema(cluster_name=request["name"]).load(config)
    except ValidationError as error:
        verdict["errors"] = [f"schema: {line}" for line in _lines(error.messages)]
        return verdict
    if unknown:
        return verdict
    cluster.source_config = config
    for result in cluster.validate({TypeMatchValidatorsSuppressor(set(SKIPPED))}, context=ValidatorContext()):
        if result.level.name != "INFO":
            kind = "errors" if result.level.name == "ERROR" else "warnings"
            verdict[kind].append(f"{result.validator_type}: {result.message}")
    if request.get("render") and not verdict["errors"]:
        try:
            verdict["rendered"] = render(cluster, request["name"])
        except Exception as error:  # noqa: BLE001  whatever the renderer stumbles over, it renders nothing
            verdict["errors"].append(f"renderer: {type(error).__name__}: {error}")
    return verdict


def render(cluster: Any, name: str) -> dict[str, int]:
    """Render the templates that ParallelCluster would deploy, and count their resources by type.

    Args:
        cluster: The configuration, loaded.
        name: The cluster's name.
    """
    from pcluster.templates.cdk_builder import CDKTemplateBuilder

    bucket = _Bucket()
    template, _ = CDKTemplateBuilder().build_cluster_template(cluster, bucket, name)
    counted: dict[str, int] = {}
    for body in [template, *bucket.templates]:
        for resource in body.get("Resources", {}).values():
            counted[resource["Type"]] = counted.get(resource["Type"], 0) + 1
    return dict(sorted(counted.items()))


def plan(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Say of each change between two configurations what its update policy says while everything runs.

    Args:
        request: ``name``, ``old`` and ``new``.
    """
    os.environ["AWS_DEFAULT_REGION"] = request["new"].get("Region") or "us-east-1"
    running = _Running(request["name"], request["old"])
    patch = ConfigPatch(cluster=running, base_config=request["old"], target_config=request["new"])
    return [_plain(_judge(change, patch)) for change in patch.changes]


def _judge(change: Any, patch: Any) -> dict[str, Any]:
    row = {"path": change.path, "key": change.key, "old": change.old_value, "new": change.new_value}
    try:
        result, reason, action, _ = change.update_policy.check(change, patch)
    except Exception as error:  # noqa: BLE001  a change over which the engine stumbles would stop the update too
        return {**row, "check": "FAILED", "reason": repr(error), "action": "", "policy": change.update_policy.name}
    return {**row, "check": result.value, "reason": reason, "action": action, "policy": change.update_policy.name}


class _Running:
    """A cluster at work: the fleet runs, and every login node that there is."""

    def __init__(self, name: str, config: dict[str, Any]) -> None:
        self.name = self.stack_name = name
        pools = (config.get("LoginNodes") or {}).get("Pools", [])
        self._pools = {pool["Name"] for pool in pools if int(pool["Count"]) > 0}

    def has_running_capacity(self) -> bool:
        return True

    def has_running_login_nodes(self, pool_name: str | None = None) -> bool:
        return bool(self._pools if pool_name is None else {pool_name} & self._pools)


class _Bucket:
    """Keeps the nested templates instead of uploading them."""

    name = "bucket"
    artifact_directory = "parallelcluster/clusters/contract"

    def __init__(self) -> None:
        self.templates: list[dict[str, Any]] = []

    def upload_cfn_asset(self, asset_file_content: dict[str, Any], asset_name: str, format: Any = None) -> None:  # noqa: A002
        self.templates.append(asset_file_content)

    def get_object_key(self, *parts: object) -> str:
        return "/".join(str(getattr(part, "value", part)) for part in parts)


def _instance_types(config: Any) -> Iterator[str]:
    if isinstance(config, dict):
        for key, value in config.items():
            if key == "InstanceType" and isinstance(value, str):
                yield value
            else:
                yield from _instance_types(value)
    elif isinstance(config, list):
        for value in config:
            yield from _instance_types(value)


def _reservations(config: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return every reservation as the first queue that uses it wants it to be: ParallelCluster judges the others."""
    found: dict[str, dict[str, str]] = {}
    for queue in _queues(config):
        kind = "capacity-block" if queue.get("CapacityType") == "CAPACITY_BLOCK" else "default"
        for compute in queue.get("ComputeResources") or []:
            target = compute.get("CapacityReservationTarget") or queue.get("CapacityReservationTarget") or {}
            if one := target.get("CapacityReservationId"):
                held = {"type": str(compute.get("InstanceType", "c5.xlarge")), "kind": kind}
                found.setdefault(one, {**held, "subnet": _subnet(queue, "SubnetIds")})
    return found


def _queues(config: dict[str, Any]) -> list[dict[str, Any]]:
    return list((config.get("Scheduling") or {}).get("SlurmQueues") or [])


def _subnet(section: dict[str, Any] | None, key: str) -> str:
    """Return the subnet, or the first of the subnets, that a section names; where there is none, one of no zone."""
    named = ((section or {}).get("Networking") or {}).get(key) or ""
    return str(named[0] if isinstance(named, list) else named)


def _lines(messages: Any, path: str = "") -> Iterator[str]:
    if isinstance(messages, dict):
        for key, inner in messages.items():
            yield from _lines(inner, f"{path}.{key}" if path else str(key))
    else:
        yield from (f"{path}: {message}" for message in (messages if isinstance(messages, list) else [messages]))


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def main(arguments: list[str]) -> int:
    """Answer every request of the first file in the second."""
    source, target = (Path(argument) for argument in arguments)
    logging.disable(logging.CRITICAL)
    requests = json.loads(source.read_text())
    answers = {
        "skipped": list(SKIPPED),
        "checks": [check(request) for request in requests.get("checks", [])],
        "plans": [plan(request) for request in requests.get("plans", [])],
    }
    target.write_text(json.dumps(answers))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
