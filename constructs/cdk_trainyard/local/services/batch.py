"""Batch, where nothing is launched, launch templates may bring the security groups, and changes are kept."""

from collections.abc import Mapping
from typing import Any

from moto.batch.models import BatchBackend
from moto.iam.models import SERVICE_NAME_CONVERSION

from cdk_trainyard.local.services.api import replace

_validate, _change = BatchBackend._validate_compute_resources, BatchBackend.update_compute_environment  # noqa: SLF001


def _validated(self: BatchBackend, cr: dict[str, Any]) -> None:
    """Let security groups be those of a launch template (Batch API Reference, ComputeResource, securityGroupIds)."""
    if "launchTemplate" in cr and not cr.get("securityGroupIds"):
        some = next(name for groups in self.ec2_backend.groups.values() for name in groups)
        cr = {**cr, "securityGroupIds": [some]}  # moto wants one that exists
    _validate(self, cr)


def _nothing(*_: Any) -> list[str]:
    return []


def _changed(
    self: BatchBackend,
    compute_environment_name: str,
    state: str | None,
    compute_resources: Mapping[str, Any] | None,
    service_role: str | None,
) -> tuple[str, str]:
    """Keep changes of compute resources, which moto forgets."""
    answer = _change(self, compute_environment_name, state, compute_resources, service_role)
    environment = self.get_compute_environment(compute_environment_name)
    if compute_resources and environment:
        environment.compute_resources = {**environment.compute_resources, **compute_resources}
    return answer


def extend() -> None:
    """Correct moto's Batch."""
    SERVICE_NAME_CONVERSION["batch"] = "Batch"  # AWSServiceRoleForBatch (Batch User Guide, "Service-linked roles")
    corrections = {"_validate_compute_resources": _validated, "update_compute_environment": _changed}
    replace(BatchBackend, {**corrections, "find_min_instances_to_meet_vcpus": staticmethod(_nothing)})
