"""WAF: web ACLs, what they protect, and their logs."""

from typing import Any

from cdk_trainyard.local.resources.model import Name, Resource, ResourceType
from cdk_trainyard.local.resources.steps import Api, answer, tagger

WAF = Api("wafv2")
_ARN = answer("Summary.ARN")


def _who(it: Resource) -> dict[str, Any]:
    return {**it.pick("Name", "Scope"), "Id": answer("Summary.Id")(it)}


def _locked(it: Resource) -> dict[str, Any]:
    """Return who it is, with the token that a change must show."""
    return {**_who(it), "LockToken": it.call("wafv2", "get_web_acl", _who(it))["LockToken"]}


def _logging(it: Resource) -> dict[str, Any]:
    return {
        "LoggingConfiguration": it.pick("ResourceArn", "LogDestinationConfigs", "RedactedFields", "LoggingFilter"),
    }


TYPES = (
    ResourceType(
        name="AWS::WAFv2::WebACL",
        create=WAF.apply("create_web_acl"),
        identity=lambda it: "|".join([it["Name"], answer("Summary.Id")(it), it["Scope"]]),
        update=WAF.put("update_web_acl", _locked),
        retag=tagger("wafv2", "tag_resource", "untag_resource", lambda it: {"ResourceARN": _ARN(it)}),
        delete=WAF.forget("delete_web_acl", _locked),
        read=WAF.read("get_web_acl", _who),
        attributes={
            "Arn": _ARN,
            "Id": answer("Summary.Id"),
            "Capacity": lambda it: it.call("wafv2", "get_web_acl", _who(it))["WebACL"]["Capacity"],
            "LabelNamespace": lambda it: f"awswaf:{it.where.account}:webacl:{it['Name']}:",
        },
        named=Name(property="Name", limit=128),
    ),
    ResourceType(
        name="AWS::WAFv2::WebACLAssociation",
        create=WAF.apply("associate_web_acl"),
        identity=lambda it: f"{it['ResourceArn']}|{it['WebACLArn']}",
        delete=WAF.forget("disassociate_web_acl", lambda it: it.pick("ResourceArn")),
        read=WAF.read("get_web_acl_for_resource", lambda it: it.pick("ResourceArn"), "WebACL && `{}`"),
    ),
    ResourceType(
        name="AWS::WAFv2::LoggingConfiguration",
        create=WAF.call("put_logging_configuration", _logging),
        identity=lambda it: it["ResourceArn"],
        update=WAF.call("put_logging_configuration", _logging),
        delete=WAF.forget("delete_logging_configuration", lambda it: it.pick("ResourceArn")),
        read=WAF.read("get_logging_configuration", lambda it: it.pick("ResourceArn")),
    ),
)
