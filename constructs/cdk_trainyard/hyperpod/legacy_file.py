"""The Slurm topology as a file beside the lifecycle scripts: ``provisioning_parameters.json``."""

from collections.abc import Sequence

from cdk_trainyard.hyperpod.mounts import legacy_fields
from cdk_trainyard.hyperpod.resolved import ResolvedGroup
from cdk_trainyard.hyperpod.spec import MultiHead
from cdk_trainyard.json_value import JsonObject, JsonValue
from cdk_trainyard.lifecycle.spec import GroupRole
from cdk_trainyard.storage import Mount


def legacy_file(multi_head: MultiHead | None, groups: Sequence[ResolvedGroup], mounts: Sequence[Mount]) -> JsonObject:
    """Return what ``provisioning_parameters.json`` holds.

    Args:
        multi_head: Several controllers. None: there is one.
        groups: The cluster's groups.
        mounts: The cluster's file systems; the file has no field for their paths.
    """
    content: dict[str, JsonValue] = {"version": "1.0.0", "workload_manager": "slurm"}
    for group in groups:
        if group.role is GroupRole.CONTROLLER:
            content["controller_group"] = group.name
        elif group.role is GroupRole.LOGIN:
            content["login_group"] = group.name
    content["worker_groups"] = [
        {"instance_group_name": group.name, "partition_name": group.partition}
        for group in groups
        if group.role is GroupRole.COMPUTE
    ]
    for mount in mounts:
        content |= legacy_fields(mount)
    if multi_head:
        content["slurm_configurations"] = _slurm_configurations(multi_head)
    return content


def _slurm_configurations(multi_head: MultiHead) -> JsonObject:
    fields: dict[str, JsonValue] = {
        "slurm_database_secret_arn": multi_head.database.secret.secret_arn,
        "slurm_database_endpoint": multi_head.database.endpoint,
        "slurm_database_user": multi_head.database.user,
        "slurm_shared_directory": multi_head.shared_directory,
    }
    if multi_head.topic:
        fields["slurm_sns_arn"] = multi_head.topic.topic_arn
    return fields
