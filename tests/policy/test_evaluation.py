"""Which policies decide, row by row, and what the answer says."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cdk_trainyard.policy import ANONYMOUS, Decision, Policies, Policy, PolicyKind, Principal, Request, parse_policy
from cdk_trainyard.policy import evaluate as decide

ACCOUNT, ELSEWHERE = "111122223333", "444455556666"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/team/examplerole"
SESSION = f"arn:aws:sts::{ACCOUNT}:assumed-role/examplerole/examplesession"
USER = f"arn:aws:iam::{ACCOUNT}:user/ana"
SERVICE = "delivery.logs.amazonaws.com"
PRINCIPALS = {
    "session": Principal.role_session(ROLE, "examplesession", "AROAEXAMPLEID1234567"),
    "user": Principal.user(USER),
    "root": Principal.root(ACCOUNT),
    "service": Principal.service(SERVICE),
    "anonymous": ANONYMOUS,
}
NAMES = {
    "session": {"AWS": SESSION},
    "role": {"AWS": ROLE},
    "user": {"AWS": USER},
    "account": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
    "number": {"AWS": ACCOUNT},
    "everybody": "*",
    "service": {"Service": SERVICE},
    "another": {"AWS": f"arn:aws:iam::{ACCOUNT}:user/bob"},
}
RESOURCES = {
    "object": ("s3:GetObject", "arn:aws:s3:::bucket/key", ACCOUNT),
    "object elsewhere": ("s3:GetObject", "arn:aws:s3:::bucket/key", ELSEWHERE),
    "key": ("kms:Decrypt", f"arn:aws:kms:us-east-1:{ACCOUNT}:key/1", ""),
    "key elsewhere": ("kms:Decrypt", f"arn:aws:kms:us-east-1:{ELSEWHERE}:key/1", ""),
    "role": ("sts:AssumeRole", f"arn:aws:iam::{ACCOUNT}:role/target", ""),
    "role elsewhere": ("sts:AssumeRole", f"arn:aws:iam::{ELSEWHERE}:role/target", ""),
}


def principal_element(words: list[str]) -> dict[str, Any]:
    negated, names = words[:1] == ["not"], [NAMES[word] for word in words if word != "not"]
    if len(names) > 1:
        names = [{"AWS": [name["AWS"] for name in names]}]
    return {"NotPrincipal" if negated else "Principal": names[0]}


def policy(says: str | list[str], kind: PolicyKind, action: str) -> Policy:
    statements = []
    for number, words in enumerate(text.split() for text in ([says] if isinstance(says, str) else says)):
        effect = "Deny" if words[0] == "deny" else "Allow"
        statement = {"Sid": f"S{number}", "Effect": effect, "Action": "x:Other" if words[0] == "other" else action}
        if kind is not PolicyKind.TRUST:
            statement["Resource"] = "*"
        statements.append(statement | (principal_element(words[1:]) if kind is not PolicyKind.IDENTITY else {}))
    return parse_policy({"Version": "2012-10-17", "Statement": statements}, kind=kind, name=f"the {kind.name} policy")


def evaluate(principal: str, resource: str, says: dict[str, Any]) -> Decision:
    action, arn, owner = RESOURCES[resource]
    of_resource = PolicyKind.TRUST if resource.startswith("role") else PolicyKind.RESOURCE
    identity = {
        name: policy(says[name], PolicyKind.IDENTITY, action) for name in says if name not in {"resource", "endpoint"}
    }
    policies = Policies(
        identity=tuple(identity[name] for name in identity if name == "identity"),
        boundary=identity.get("boundary"),
        session=tuple(identity[name] for name in identity if name == "session"),
        resource=(policy(says["resource"], of_resource, action),) if "resource" in says else (),
        endpoint=policy(says["endpoint"], PolicyKind.ENDPOINT, action) if "endpoint" in says else None,
        service_control=tuple((identity[name],) for name in identity if name == "scp"),
    )
    request = Request(principal=PRINCIPALS[principal], action=action, resource=arn, resource_account=owner)
    return decide(request, policies)


TABLES = yaml.safe_load((Path(__file__).parent / "evaluation.yaml").read_text(encoding="utf-8"))
ROWS = [pytest.param(*row, id=" ".join(map(str, row[:3]))) for table in TABLES for row in table["rows"]]


def test_every_table_has_a_source() -> None:
    assert [table for table in TABLES if not table["source"]] == []


@pytest.mark.parametrize(("principal", "resource", "says", "allowed"), ROWS)
def test_decision(principal: str, resource: str, says: dict[str, Any], allowed: bool) -> None:
    decision = evaluate(principal, resource, says)
    assert decision.allowed == allowed, decision.reason
    assert allowed == (decision.missing is None and " explicit deny " not in decision.reason)


def test_a_deny_names_its_statement() -> None:
    decision = evaluate("session", "object", {"identity": ["allow", "deny"]})
    assert " with an explicit deny in statement S1 of the IDENTITY policy: {" in decision.reason
    assert decision.statement is not None
    assert decision.statement["Effect"] == "Deny"


def test_a_lacking_permission_is_given_as_a_statement() -> None:
    decision = evaluate("session", "object", {})
    assert decision.missing == {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::bucket/key"}
    refused = f"{SESSION} is not authorized to perform: s3:GetObject on resource: arn:aws:s3:::bucket/key"
    assert decision.reason.startswith(f"{refused} because no identity policy of {ROLE} allows it; missing: {{")


@pytest.mark.parametrize(
    ("elements", "said"),
    [
        ({"Resource": "arn:aws:s3:::bucket/other"}, "p is for arn:aws:s3:::bucket/other"),
        (
            {"Resource": "*", "Condition": {"StringEquals": {"aws:SourceVpc": "vpc-1"}}},
            "p demands StringEquals of aws:SourceVpc, which is absent",
        ),
    ],
)
def test_the_nearest_statement_is_named(elements: dict[str, Any], said: str) -> None:
    statement = {"Effect": "Allow", "Action": "s3:GetObject", **elements}
    near = parse_policy({"Version": "2012-10-17", "Statement": statement}, name="p")
    request = Request(principal=PRINCIPALS["session"], action="s3:GetObject", resource="arn:aws:s3:::bucket/key")
    assert said in decide(request, Policies(identity=(near,))).reason


def test_get_caller_identity_needs_no_permission() -> None:
    """STS API Reference, GetCallerIdentity: also when a policy explicitly denies it."""
    request = Request(principal=PRINCIPALS["session"], action="sts:GetCallerIdentity", resource="*")
    assert decide(request, Policies(identity=(policy("deny", PolicyKind.IDENTITY, "sts:*"),))).allowed
