"""EC2's security groups and their rules."""

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from cdk_trainyard.local.resources.ec2_common import EC2, RETAG, tagged
from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import answer, given, identity
from cdk_trainyard.local.state import Store

_SIDES = ("ingress", "egress")
_AS_IT_SHOULD_BE = frozenset({"InvalidPermission.Duplicate", "InvalidPermission.NotFound"})
_PEERS = {
    "CidrIp": ("IpRanges", "CidrIp"),
    "CidrIpv6": ("Ipv6Ranges", "CidrIpv6"),
    "SourceSecurityGroupId": ("UserIdGroupPairs", "GroupId"),
    "DestinationSecurityGroupId": ("UserIdGroupPairs", "GroupId"),
    "SourcePrefixListId": ("PrefixListIds", "PrefixListId"),
    "DestinationPrefixListId": ("PrefixListIds", "PrefixListId"),
}

_EVERYTHING = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
_OPEN: Store[set[str]] = Store(lambda _account, _region: set())
"""Groups whose template says nothing of what they let out: EC2's first rule still stands."""


def permission(rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule of a template as EC2's ``IpPermissions`` write it."""
    described = {"Description": rule["Description"]} if rule.get("Description") else {}
    ports = {name: rule[name] for name in ("FromPort", "ToPort") if name in rule}
    peers = {
        place: [{key: rule[name], **described}] for name, (place, key) in _PEERS.items() if rule.get(name) is not None
    }
    return {"IpProtocol": rule["IpProtocol"], **ports, **peers}


def _rule(it: Resource) -> dict[str, Any]:
    it.taken.update(it.properties)
    return {"GroupId": it["GroupId"], "IpPermissions": [permission(it.properties)]}


def _previous_rule(it: Resource) -> dict[str, Any]:
    return {"GroupId": it.previous["GroupId"], "IpPermissions": [permission(it.previous)]}


def _declared(properties: Mapping[str, Any], side: str) -> list[Any]:
    found: list[Any] = properties.get(f"SecurityGroup{side.title()}") or []
    return found


def _differences(it: Resource) -> Iterator[tuple[str, str, Any]]:
    """Yield what to revoke and what to authorize; rules of separate resources are left alone."""
    for side in _SIDES:
        it.taken.add(f"SecurityGroup{side.title()}")
        old, new = _declared(it.previous, side), _declared(it.properties, side)
        yield from (("revoke", side, rule) for rule in old if rule not in new)
        yield from (("authorize", side, rule) for rule in new if rule not in old)


def _change_rules(it: Resource) -> None:
    for verb, side, rule in _differences(it):
        group = {"GroupId": it.id, "IpPermissions": [permission(rule)]}
        try:
            it.call("ec2", f"{verb}_security_group_{side}", group)
        except ClientError as error:
            if error.response["Error"]["Code"] not in _AS_IT_SHOULD_BE:
                raise


def _first_rules(it: Resource) -> None:
    if "SecurityGroupEgress" in it:
        _close(it, it.id)
    else:
        _open_groups(it).add(it.id)
    _change_rules(it)


def _close(it: Resource, group_id: str) -> None:
    """Take away the rule that lets everything out, which EC2 gives to a new group."""
    it.call("ec2", "revoke_security_group_egress", {"GroupId": group_id, "IpPermissions": [_EVERYTHING]})


def _first_egress_rule(it: Resource) -> None:
    """A rule of its own takes the place of EC2's rule, as one in the group does; CDK counts on it."""
    if (group_id := it["GroupId"]) in _open_groups(it):
        _open_groups(it).discard(group_id)
        _close(it, group_id)


def _open_groups(it: Resource) -> set[str]:
    return _OPEN.of(it.where.account, it.where.region)


def _group(it: Resource) -> dict[str, Any]:
    described = {"GroupName": it["GroupName"], "Description": it["GroupDescription"]}
    return {**described, **it.pick("VpcId"), **tagged(it, "security-group")}


def _rule_type(side: str) -> ResourceType:
    def describe_again(it: Resource) -> None:
        """Only the description of a rule changes in place."""
        it.call("ec2", f"revoke_security_group_{side}", _previous_rule(it))
        it.call("ec2", f"authorize_security_group_{side}", _rule(it))

    def live(it: Resource) -> Mapping[str, Any] | None:
        rules = it.call("ec2", "describe_security_group_rules", {"SecurityGroupRuleIds": [it.id]})
        return {} if rules["SecurityGroupRules"] else None

    authorize = EC2.call(f"authorize_security_group_{side}", _rule)

    def add(it: Resource) -> Mapping[str, Any] | None:
        if side == "egress":
            _first_egress_rule(it)
        return authorize(it)

    return ResourceType(
        name=f"AWS::EC2::SecurityGroup{side.title()}",
        create=add,
        identity=answer("SecurityGroupRules[0].SecurityGroupRuleId"),
        update=describe_again,
        delete=EC2.forget(f"revoke_security_group_{side}", _rule),
        read=live,
        attributes={"Id": identity},
    )


TYPES = (
    ResourceType(
        name="AWS::EC2::SecurityGroup",
        create=EC2.call("create_security_group", _group),
        identity=answer("GroupId"),
        settle=_first_rules,
        update=_change_rules,
        retag=RETAG,
        delete=EC2.forget("delete_security_group", lambda it: {"GroupId": it.id}),
        read=EC2.read(
            "describe_security_groups",
            lambda it: {"GroupIds": [it.id]},
            "SecurityGroups[0].{GroupDescription: Description, VpcId: VpcId}",
        ),
        attributes={"GroupId": identity, "Id": identity, "VpcId": given("VpcId")},
        named=Name(property="GroupName"),
    ),
    _rule_type("ingress"),
    _rule_type("egress"),
)
