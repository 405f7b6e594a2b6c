"""A model service: the load balancer before it, its tasks."""

from collections.abc import Iterator
from typing import Any

from cdk_trainyard.cli.inventory.account import Account, Row, last, row


def doors(aws: Account) -> Iterator[Row]:
    """Load balancers, what their listeners let in and answer, and the tasks behind them."""
    elb = aws.client("elbv2")
    found = aws.found(
        *("ElasticLoadBalancingV2::LoadBalancer", "elbv2", "describe_load_balancers"),
        *("LoadBalancerArns", "LoadBalancers"),
    )
    for balancer in found:
        yield row("load balancer", balancer["DNSName"], balancer["Scheme"], balancer["State"]["Code"])
        for listener in elb.describe_listeners(LoadBalancerArn=balancer["LoadBalancerArn"])["Listeners"]:
            certificates = [each["CertificateArn"] for each in listener.get("Certificates", [])]
            yield row("  listener", f"{listener['Protocol']} {listener['Port']}", *certificates)
            for rule in elb.describe_rules(ListenerArn=listener["ListenerArn"])["Rules"]:
                asked = "; ".join(condition(each) for each in rule["Conditions"]) or "anything else"
                answers = [action(each) for each in sorted(rule["Actions"], key=lambda each: each.get("Order", 0))]
                yield row("    rule", f"{rule['Priority']:<7} {asked}", f"then {', then '.join(answers)}")
    for group in aws.found(
        *("ElasticLoadBalancingV2::TargetGroup", "elbv2", "describe_target_groups"), "TargetGroupArns", "TargetGroups"
    ):
        health = f"health {group['HealthCheckPath']} on {group['HealthCheckPort']}"
        yield row("  target group", group["TargetGroupName"], f"{group['Protocol']} {group['Port']}", health)
    for name in aws.ids("WAFv2::WebACL"):
        acl, identity, scope = name.split("|")
        rules = aws.client("wafv2").get_web_acl(Name=acl, Id=identity, Scope=scope)["WebACL"]["Rules"]
        yield row("  web ACL", acl, *(rule["Name"] for rule in rules))


def condition(found: dict[str, Any]) -> str:
    """What a rule asks of a request."""
    values = [value for key, each in found.items() if key.endswith("Config") for value in each.get("Values", [])]
    return f"{found['Field']} {' '.join(values or found.get('Values', []))}"


def action(found: dict[str, Any]) -> str:
    """What a rule does."""
    if jwt := found.get("JwtValidationConfig"):
        claims = [f"{claim['Name']} {'|'.join(claim['Values'])}" for claim in jwt.get("AdditionalClaims", [])]
        return f"a token of {jwt['Issuer']} with {' and '.join(claims) or 'any claim'}"
    if fixed := found.get("FixedResponseConfig"):
        return f"answer {fixed['StatusCode']}"
    return f"{found['Type']} to {found.get('TargetGroupArn', 'targets').split('/')[-2:][0]}"


def services(aws: Account) -> Iterator[Row]:
    """ECS services, what their tasks run, where the tasks' hosts come from."""
    ecs = aws.client("ecs")
    for arn in aws.ids("ECS::Service"):
        cluster = arn.split("/")[1]
        (service,) = ecs.describe_services(cluster=cluster, services=[arn])["services"]
        tasks = f"{service['runningCount']} of {service['desiredCount']} tasks"
        kind = service["schedulingStrategy"].lower()
        yield row("service", service["serviceName"], kind, *([tasks] if kind == "replica" else []))
        for provider in service.get("capacityProviderStrategy", []):
            yield row("  hosts of", provider["capacityProvider"])
        definition = ecs.describe_task_definition(taskDefinition=service["taskDefinition"])["taskDefinition"]
        yield row("  task definition", last(service["taskDefinition"]), definition.get("networkMode", "bridge"))
        for container in definition["containerDefinitions"]:
            devices = [each["hostPath"] for each in container.get("linuxParameters", {}).get("devices", [])]
            secrets = [f"{each['name']} from a secret" for each in container.get("secrets", [])]
            yield row("    container", container["name"], container["image"], *devices, *secrets)
