"""Elastic Load Balancing v2: load balancers, target groups, listeners and their rules."""

from typing import Any

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType, Step
from cdk_trainyard.local.resources.steps import Api, after, answer, constant, identity, tagger

ELB = Api("elbv2")
_TAGS = tagger("elbv2", "add_tags", "remove_tags", lambda it: {"ResourceArns": [it.id]})


def _attributes(kind: str) -> Step:
    """Return a step that sets the attributes of a load balancer or of a target group."""
    title = "".join(word.title() for word in kind.split("_"))

    def step(it: Resource) -> None:
        rows = it.get(f"{title}Attributes") or []
        if rows:
            it.call("elbv2", f"modify_{kind}_attributes", {f"{title}Arn": it.id, "Attributes": rows})

    return step


_LOAD_BALANCER_ATTRIBUTES = _attributes("load_balancer")


def _change_load_balancer(it: Resource) -> None:
    arn = {"LoadBalancerArn": it.id}
    if it.changed("SecurityGroups"):
        it.call("elbv2", "set_security_groups", {**arn, **it.pick("SecurityGroups")})
    if it.changed("Subnets"):
        it.call("elbv2", "set_subnets", {**arn, **it.pick("Subnets")})
    _LOAD_BALANCER_ATTRIBUTES(it)


def _targets(it: Resource) -> None:
    rows = it.get("Targets") or []
    if rows:
        it.call("elbv2", "register_targets", {"TargetGroupArn": it.id, "Targets": rows})


_SETTLE_TARGET_GROUP = after(_attributes("target_group"), _targets)


def _load_balancer_arns(it: Resource) -> Any:
    found = it.call("elbv2", "describe_target_groups", {"TargetGroupArns": [it.id]})
    return found["TargetGroups"][0].get("LoadBalancerArns", [])


TYPES = (
    ResourceType(
        name="AWS::ElasticLoadBalancingV2::LoadBalancer",
        create=ELB.apply("create_load_balancer"),
        identity=answer("LoadBalancers[0].LoadBalancerArn"),
        settle=_LOAD_BALANCER_ATTRIBUTES,
        update=_change_load_balancer,
        retag=_TAGS,
        delete=ELB.forget("delete_load_balancer", lambda it: {"LoadBalancerArn": it.id}),
        read=ELB.read("describe_load_balancers", lambda it: {"LoadBalancerArns": [it.id]}),
        attributes={
            "CanonicalHostedZoneID": answer("LoadBalancers[0].CanonicalHostedZoneId"),
            "DNSName": answer("LoadBalancers[0].DNSName"),
            "LoadBalancerArn": identity,
            "LoadBalancerFullName": lambda it: it.id.split(":loadbalancer/")[-1],
            "LoadBalancerName": answer("LoadBalancers[0].LoadBalancerName"),
        },
        named=Name(property="Name", limit=32),
    ),
    ResourceType(
        name="AWS::ElasticLoadBalancingV2::TargetGroup",
        create=ELB.apply("create_target_group"),
        identity=answer("TargetGroups[0].TargetGroupArn"),
        settle=_SETTLE_TARGET_GROUP,
        update=after(ELB.apply("modify_target_group", lambda it: {"TargetGroupArn": it.id}), _SETTLE_TARGET_GROUP),
        retag=_TAGS,
        delete=ELB.forget("delete_target_group", lambda it: {"TargetGroupArn": it.id}),
        read=ELB.read(
            "describe_target_groups",
            lambda it: {"TargetGroupArns": [it.id]},
            "TargetGroups[0].{HealthCheckPath: HealthCheckPath, Port: Port}",
        ),
        attributes={
            "LoadBalancerArns": _load_balancer_arns,
            "TargetGroupArn": identity,
            "TargetGroupFullName": lambda it: it.id.split(":")[-1],
            "TargetGroupName": answer("TargetGroups[0].TargetGroupName"),
        },
        named=Name(property="Name", limit=32),
    ),
    ResourceType(
        name="AWS::ElasticLoadBalancingV2::Listener",
        create=ELB.apply("create_listener"),
        identity=answer("Listeners[0].ListenerArn"),
        update=ELB.apply("modify_listener", lambda it: {"ListenerArn": it.id}),
        retag=_TAGS,
        delete=ELB.forget("delete_listener", lambda it: {"ListenerArn": it.id}),
        read=ELB.read(
            "describe_listeners", lambda it: {"ListenerArns": [it.id]}, "Listeners[0].{Port: Port, Protocol: Protocol}"
        ),
        attributes={"ListenerArn": identity},
    ),
    ResourceType(
        name="AWS::ElasticLoadBalancingV2::ListenerRule",
        create=ELB.apply("create_rule"),
        identity=answer("Rules[0].RuleArn"),
        update=ELB.apply("modify_rule", lambda it: {"RuleArn": it.id}),
        retag=_TAGS,
        delete=ELB.forget("delete_rule", lambda it: {"RuleArn": it.id}),
        attributes={"RuleArn": identity, "IsDefault": constant("false")},
    ),
)
