"""Documents that the policy language does not know are refused, by name."""

from typing import Any

import pytest

from cdk_trainyard.policy import Policies, PolicyError, PolicyKind, Principal, Request, evaluate, parse_policy

ALLOW = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
TRUST = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}
IDENTITY, RESOURCE = PolicyKind.IDENTITY, PolicyKind.RESOURCE


def without(statement: dict[str, Any], element: str) -> dict[str, Any]:
    return {name: value for name, value in statement.items() if name != element}


def condition(**operators: Any) -> dict[str, Any]:
    return {**ALLOW, "Condition": operators}


# IAM User Guide, "Grammar of the IAM JSON policy language", "… Condition operators", "… Principal", "… Resource":
# statement, kind of policy, what the error names
STATEMENTS = [
    ({**ALLOW, "Effect": "allow"}, IDENTITY, "'allow'"),
    ({**ALLOW, "Conditions": {}}, IDENTITY, "'Conditions'"),
    ({**ALLOW, "NotAction": "s3:*"}, IDENTITY, "both Action and NotAction"),
    ({**ALLOW, "NotResource": "*"}, IDENTITY, "both Resource and NotResource"),
    (without(ALLOW, "Action"), IDENTITY, "neither Action nor NotAction"),
    (without(ALLOW, "Resource"), IDENTITY, "neither Resource nor NotResource"),
    ({**ALLOW, "Principal": "*"}, IDENTITY, "no Principal"),
    ({**ALLOW, "NotPrincipal": "*"}, IDENTITY, "no Principal"),
    (ALLOW, RESOURCE, "neither Principal nor NotPrincipal"),
    ({**TRUST, "Resource": "*"}, PolicyKind.TRUST, "no Resource"),
    ({**without(TRUST, "Principal"), "NotPrincipal": "*"}, PolicyKind.TRUST, "NotPrincipal"),
    ({**ALLOW, "Action": "GetObject"}, IDENTITY, "'GetObject'"),
    ({**ALLOW, "Action": "s*:GetObject"}, IDENTITY, "'s*:GetObject'"),
    ({**ALLOW, "Resource": "bucket"}, IDENTITY, "'bucket'"),
    ({**ALLOW, "Resource": "arn:aws:s3"}, IDENTITY, "'arn:aws:s3'"),
    ({**ALLOW, "Resource": "arn:aws:s*:::b"}, IDENTITY, "in place of the service"),
    ({**ALLOW, "Resource": "arn:aws:s3:::b/${aws:username"}, IDENTITY, "not closed"),
    ({**ALLOW, "Resource": "arn:aws:s3:::b/${aws:username, x}"}, IDENTITY, "${aws:username, x}"),
    ({**ALLOW, "Principal": {"IAM": "*"}}, RESOURCE, "'IAM'"),
    ({**ALLOW, "Principal": "ana"}, RESOURCE, "'ana'"),
    ({**ALLOW, "Principal": {"AWS": "arn:aws:iam::111122223333:role/*"}}, RESOURCE, "role/*"),
    ({**ALLOW, "Principal": {"AWS": "arn:aws:iam::111122223333:group/g"}}, RESOURCE, "group/g"),
    (condition(StringMatches={"aws:username": "ana"}), IDENTITY, "'StringMatches'"),
    (condition(stringequals={"aws:username": "ana"}), IDENTITY, "'stringequals'"),
    (condition(**{"ForEachValue:StringEquals": {"aws:TagKeys": "a"}}), IDENTITY, "'ForEachValue:StringEquals'"),
    (condition(NullIfExists={"aws:username": "true"}), IDENTITY, "'NullIfExists'"),
    (condition(Null={"aws:username": "maybe"}), IDENTITY, "'maybe'"),
    (condition(Bool={"aws:SecureTransport": "yes"}), IDENTITY, "'yes'"),
    (condition(NumericLessThan={"s3:max-keys": "${aws:username}"}), IDENTITY, "not a number"),
    (condition(DateLessThan={"aws:CurrentTime": "tomorrow"}), IDENTITY, "not a date"),
    (condition(IpAddress={"aws:SourceIp": "10.0.0.0/33"}), IDENTITY, "'10.0.0.0/33'"),
    (condition(BinaryEquals={"key": "?"}), IDENTITY, "not base64"),
    (condition(ArnLike={"aws:SourceArn": "arn:aws:s3"}), IDENTITY, "six parts"),
]


@pytest.mark.parametrize(("statement", "kind", "named"), STATEMENTS)
def test_a_statement_is_refused(statement: dict[str, Any], kind: PolicyKind, named: str) -> None:
    with pytest.raises(PolicyError) as error:
        parse_policy({"Version": "2012-10-17", "Statement": [statement]}, kind=kind, name="policy x")
    assert named in str(error.value)
    assert str(error.value).startswith("policy x: statement 1: ")


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({"Version": "2012-10-18", "Statement": [ALLOW]}, "'2012-10-18'"),
        ({"Version": "2012-10-17", "Statements": [ALLOW]}, "'Statements'"),
        ({"Version": "2012-10-17"}, "no Statement"),
        ("{", "Expecting property name"),
        ("[]", "JSON object"),
    ],
)
def test_a_document_is_refused(document: str | dict[str, Any], named: str) -> None:
    with pytest.raises(PolicyError, match=r"^policy x: ") as error:
        parse_policy(document, name="policy x")
    assert named in str(error.value)


def test_one_statement_needs_no_list_and_json_is_read() -> None:
    text = '{"Statement": {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}}'
    assert len(parse_policy(text, name="p").statements) == 1


def test_several_values_need_a_set_operator() -> None:
    """IAM User Guide, "Creating a condition with multiple keys or values": what else happens is nowhere said."""
    policy = parse_policy({"Statement": condition(StringEquals={"aws:TagKeys": "a"})}, name="p")
    principal = Principal.user("arn:aws:iam::111122223333:user/ana")
    request = Request(principal=principal, action="s3:TagResource", resource="*", keys={"aws:TagKeys": ["a", "b"]})
    with pytest.raises(PolicyError, match=r"StringEquals of aws:TagKeys, which has several values: a, b"):
        evaluate(request, Policies(identity=(policy,)))


def test_several_values_are_no_policy_variable() -> None:
    statement = {"Effect": "Deny", "Action": "*", "Resource": "arn:aws:s3:::b/${aws:TagKeys}"}
    policy = parse_policy({"Version": "2012-10-17", "Statement": statement}, name="p")
    principal = Principal.root("111122223333")
    request = Request(
        principal=principal, action="s3:GetObject", resource="arn:aws:s3:::b/a", keys={"aws:TagKeys": ["a", "b"]}
    )
    with pytest.raises(PolicyError, match=r"aws:TagKeys has several values"):
        evaluate(request, Policies(identity=(policy,)))
