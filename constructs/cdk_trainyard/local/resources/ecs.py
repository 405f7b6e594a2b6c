"""ECS: clusters, capacity providers, task definitions, services."""

from collections.abc import Mapping
from typing import Any

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, given, identity, tagger

ECS = Api("ecs")
_SERVICE_LISTS = ("LoadBalancers", "PlacementConstraints", "PlacementStrategies", "ServiceRegistries")
_SERVICE_CREATE_ONLY = ("Cluster", "LaunchType", "Role", "SchedulingStrategy", "ServiceName", "Tags")


def _tags(target: Any) -> Any:
    return tagger("ecs", "tag_resource", "untag_resource", lambda it: {"ResourceArn": target(it)}, tags="tags")


def _settings(it: Resource) -> dict[str, Any]:
    return {"Settings": it.get("ClusterSettings", [])}


def _service(it: Resource) -> dict[str, Any]:
    return {
        "Cluster": it.get("Cluster", "default"),
        **({"PlacementStrategy": it["PlacementStrategies"]} if "PlacementStrategies" in it else {}),
    }


def _new_service(it: Resource) -> dict[str, Any]:
    """A service of replicas that says no number has one task."""
    daemon = it.get("SchedulingStrategy") == "DAEMON"
    return {**_service(it), **({} if daemon else {"DesiredCount": it.get("DesiredCount", 1)})}


def _changed_service(it: Resource) -> dict[str, Any]:
    """Lists that the template no longer has are emptied; a number that it no longer says is left to who scales it."""
    it.pick("DesiredCount")
    gone: dict[str, list[Any]] = {name: [] for name in _SERVICE_LISTS if name in it.previous and name not in it}
    it.taken.update(gone)
    strategies = {"PlacementStrategy": gone.pop("PlacementStrategies")} if "PlacementStrategies" in gone else {}
    return {**_service(it), **gone, **strategies, "Service": it.id}


def _cluster_of(it: Resource) -> dict[str, Any]:
    return {"Cluster": it.get("Cluster", "default")}


def _association(it: Resource) -> dict[str, Any]:
    return {"CapacityProviders": it.get("CapacityProviders", [])}


def _no_association(it: Resource) -> Mapping[str, Any]:
    return {"Cluster": it["Cluster"], "CapacityProviders": [], "DefaultCapacityProviderStrategy": []}


def _provider_changes(it: Resource) -> dict[str, Any]:
    group = {name: value for name, value in it["AutoScalingGroupProvider"].items() if name != "AutoScalingGroupArn"}
    return {"Name": it.id, "AutoScalingGroupProvider": group}


TYPES = (
    ResourceType(
        name="AWS::ECS::Cluster",
        create=ECS.apply("create_cluster", _settings),
        identity=given("ClusterName"),
        update=ECS.apply("update_cluster", lambda it: {"Cluster": it.id, **_settings(it)}),
        retag=_tags(answer("cluster.clusterArn")),
        delete=ECS.forget("delete_cluster", lambda it: {"Cluster": it.id}),
        read=ECS.read(
            "describe_clusters", lambda it: {"Clusters": [it.id]}, "clusters[?status=='ACTIVE'] | [0] && `{}`"
        ),
        attributes={"Arn": answer("cluster.clusterArn")},
        named=Name(property="ClusterName"),
    ),
    ResourceType(
        name="AWS::ECS::CapacityProvider",
        create=ECS.apply("create_capacity_provider"),
        identity=given("Name"),
        update=ECS.call("update_capacity_provider", _provider_changes),
        retag=_tags(answer("capacityProvider.capacityProviderArn")),
        delete=ECS.forget("delete_capacity_provider", lambda it: {"CapacityProvider": it.id}),
        named=Name(property="Name"),
    ),
    ResourceType(
        name="AWS::ECS::ClusterCapacityProviderAssociations",
        create=ECS.put("put_cluster_capacity_providers", _association),
        identity=given("Cluster"),
        update=ECS.put("put_cluster_capacity_providers", _association),
        delete=ECS.forget("put_cluster_capacity_providers", _no_association),
    ),
    ResourceType(
        name="AWS::ECS::TaskDefinition",
        create=ECS.apply("register_task_definition"),
        identity=answer("taskDefinition.taskDefinitionArn"),
        retag=_tags(identity),
        delete=ECS.forget("deregister_task_definition", lambda it: {"TaskDefinition": it.id}),
        read=ECS.read("describe_task_definition", lambda it: {"TaskDefinition": it.id}),
        attributes={"TaskDefinitionArn": identity},
        named=Name(property="Family"),
        revised=True,
    ),
    ResourceType(
        name="AWS::ECS::Service",
        create=ECS.apply("create_service", _new_service),
        identity=answer("service.serviceArn"),
        update=ECS.apply("update_service", _changed_service, but=_SERVICE_CREATE_ONLY),
        retag=_tags(identity),
        delete=ECS.forget("delete_service", lambda it: {**_cluster_of(it), "Service": it.id, "Force": True}),
        read=ECS.read(
            "describe_services",
            lambda it: {**_cluster_of(it), "Services": [it.id]},
            "services[?status=='ACTIVE'] | [0].{DesiredCount: desiredCount}",
        ),
        attributes={"Name": given("ServiceName"), "ServiceArn": identity},
        named=Name(property="ServiceName"),
    ),
)
