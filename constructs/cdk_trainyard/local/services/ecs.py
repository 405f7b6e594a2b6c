"""ECS: services keep all that they are told, run at once, and want what they name to exist."""

from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult
from moto.ecs.models import EC2ContainerServiceBackend, Service
from moto.ecs.responses import EC2ContainerServiceResponse
from moto.elbv2.models import elbv2_backends

from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import plain, remember, replace
from cdk_trainyard.local.services.on_behalf import start_task

_ACTIVE = "ACTIVE"
_KEPT = {
    "availabilityZoneRebalancing": "availability_zone_rebalancing",
    "capacityProviderStrategy": "capacity_provider_strategy",
    "deploymentConfiguration": "deployment_configuration",
    "enableECSManagedTags": "enable_ecs_managed_tags",
    "enableExecuteCommand": "enable_execute_command",
    "healthCheckGracePeriodSeconds": "health_check_grace_period_seconds",
    "placementConstraints": "placement_constraints",
    "placementStrategy": "placement_strategy",
}
"""What creating a service takes, and moto does not keep."""
_create = EC2ContainerServiceResponse.create_service
_update = EC2ContainerServiceResponse.update_service
_list_services, _list_clusters = EC2ContainerServiceBackend.list_services, EC2ContainerServiceBackend.list_clusters


def _create_whole(response: EC2ContainerServiceResponse) -> ActionResult:
    asked = plain(response._get_params())  # noqa: SLF001  moto's way to read requests
    _check(response.ecs_backend, response.current_account, response.region, asked, asked.get("taskDefinition"))
    answer = _create(response)
    made: Any = answer.result
    remember(made["service"], {attribute: asked[name] for name, attribute in _KEPT.items() if name in asked})
    if asked.get("capacityProviderStrategy"):
        made["service"].launch_type = None
    _run(made["service"], response)
    return answer


def _update_whole(response: EC2ContainerServiceResponse) -> ActionResult:
    asked = plain(response._get_params())  # noqa: SLF001  as above
    definition = asked.get("taskDefinition") or _service(response.ecs_backend, asked).task_definition
    _check(response.ecs_backend, response.current_account, response.region, asked, definition)
    answer = _update(response)
    changed: Any = answer.result
    _run(changed["service"], response)
    return answer


def _service(backend: EC2ContainerServiceBackend, asked: Mapping[str, Any]) -> Service:
    return backend._get_service(asked.get("cluster", "default"), asked["service"].split("/")[-1])  # noqa: SLF001


def _run(service: Service, response: EC2ContainerServiceResponse) -> None:
    """Have the tasks run that are wanted: as CloudFormation waits for it, nobody sees them start.

    Raises:
        ApiError: Their execution role lacks a permission.
    """
    if service.task_definition and (service.desired_count or service.scheduling_strategy == "DAEMON"):
        definition = response.ecs_backend.describe_task_definition(service.task_definition)
        role = getattr(definition, "execution_role_arn", None)
        if role:
            start_task(role, plain(definition.container_definitions), response.region)
    service.running_count, service.pending_count = service.desired_count, 0
    for deployment in service.deployments[:1]:
        deployment |= {
            "taskDefinition": service.task_definition,
            "desiredCount": service.desired_count,
            "runningCount": service.desired_count,
            "pendingCount": 0,
            "launchType": service.launch_type,
            "rolloutState": "COMPLETED",
            "rolloutStateReason": f"ECS deployment {deployment['id']} completed.",
        }


# ---------------------------------------------------------------- what is listed
def _active_services(backend: EC2ContainerServiceBackend, *asked: Any, **more: Any) -> list[str]:
    """List services; a deleted one can be described, and is listed no more."""
    active = {service.arn for service in backend.services.values() if service.status == _ACTIVE}
    return [arn for arn in _list_services(backend, *asked, **more) if arn in active]


def _active_clusters(backend: EC2ContainerServiceBackend) -> list[str]:
    """List clusters, as `_active_services` does services."""
    active = {cluster.arn for cluster in backend.clusters.values() if cluster.status == _ACTIVE}
    return [arn for arn in _list_clusters(backend) if arn in active]


# ---------------------------------------------------------------- what has to exist
def _check(
    backend: EC2ContainerServiceBackend, account: str, region: str, asked: Mapping[str, Any], definition: str | None
) -> None:
    """Refuse what ECS refuses of a service: containers, target groups and capacity providers that are not there."""
    for row in asked.get("loadBalancers", []):
        _check_container(backend, row, definition)
        _check_target_group(account, region, row.get("targetGroupArn"))
    cluster = backend._get_cluster(asked.get("cluster", "default"))  # noqa: SLF001  moto's way to find it
    for row in asked.get("capacityProviderStrategy", []):
        if row["capacityProvider"] not in (cluster.capacity_providers or []):
            raise ApiError(
                "InvalidParameterException",
                f"The specified capacity provider '{row['capacityProvider']}' was not found. Specify a valid capacity "
                "provider name that is associated with the cluster and try again.",
            )


def _check_container(backend: EC2ContainerServiceBackend, row: Mapping[str, Any], definition: str | None) -> None:
    if definition is None:
        return
    name, port = row.get("containerName"), row.get("containerPort")
    containers = plain(backend.describe_task_definition(definition).container_definitions)
    mapped = {
        (each["name"], int(mapping["containerPort"])) for each in containers for mapping in each.get("portMappings", [])
    }
    if name not in {each["name"] for each in containers}:
        raise ApiError(
            "InvalidParameterException", f"The container {name} does not exist in the task definition {definition}."
        )
    if port is not None and (name, int(port)) not in mapped:
        raise ApiError(
            "InvalidParameterException", f"The container {name} did not have a container port {port} defined."
        )


def _check_target_group(account: str, region: str, arn: str | None) -> None:
    group = elbv2_backends[account][region].target_groups.get(arn) if arn else None
    if arn and (group is None or not group.load_balancer_arns):
        raise ApiError(
            "InvalidParameterException",
            f"The target group with targetGroupArn {arn} does not have an associated load balancer.",
        )


def extend() -> None:
    """Correct moto's ECS."""
    replace(EC2ContainerServiceBackend, {"list_services": _active_services, "list_clusters": _active_clusters})
    replace(EC2ContainerServiceResponse, {"create_service": _create_whole, "update_service": _update_whole})
