"""What a principal brings into the request context, and by which names it goes."""

import pytest

from cdk_trainyard.policy import ANONYMOUS, Policies, PolicyKind, Principal, Request, evaluate, parse_policy

ROLE = "arn:aws:iam::111122223333:role/team/examplerole"

# IAM User Guide, "AWS global condition context keys", and "IAM policy elements: Variables and tags", Principal key
# values: principal, key, value; "" when the key is not in the context
KEYS = [
    (Principal.role_session(ROLE, "s", "AROAX"), "aws:PrincipalArn", ROLE),
    (Principal.role_session(ROLE, "s", "AROAX"), "aws:PrincipalAccount", "111122223333"),
    (Principal.role_session(ROLE, "s", "AROAX"), "aws:PrincipalType", "AssumedRole"),
    (Principal.role_session(ROLE, "s", "AROAX"), "aws:userid", "AROAX:s"),
    (Principal.role_session(ROLE, "s", "AROAX"), "aws:username", ""),
    (Principal.role_session(ROLE, "s", "AROAX"), "aws:PrincipalIsAWSService", "false"),
    (Principal.user("arn:aws:iam::111122223333:user/x/ana", "AIDAX"), "aws:username", "ana"),
    (Principal.user("arn:aws:iam::111122223333:user/x/ana", "AIDAX"), "aws:userid", "AIDAX"),
    (Principal.user("arn:aws:iam::111122223333:user/x/ana"), "aws:PrincipalType", "User"),
    (Principal.root("111122223333"), "aws:PrincipalType", "Account"),
    (Principal.root("111122223333"), "aws:PrincipalArn", "arn:aws:iam::111122223333:root"),
    (ANONYMOUS, "aws:PrincipalType", "Anonymous"),
    (ANONYMOUS, "aws:PrincipalAccount", "anonymous"),
    (ANONYMOUS, "aws:PrincipalArn", ""),
    (ANONYMOUS, "aws:userid", "anonymous"),
    (Principal.service("s3.amazonaws.com"), "aws:PrincipalIsAWSService", "true"),
    (Principal.service("s3.amazonaws.com"), "aws:PrincipalServiceName", "s3.amazonaws.com"),
    (Principal.service("s3.amazonaws.com"), "aws:PrincipalAccount", ""),
]


@pytest.mark.parametrize(("principal", "key", "value"), KEYS)
def test_context_of_a_principal(principal: Principal, key: str, value: str) -> None:
    request = Request(principal=principal, action="s3:GetObject", resource="*")
    assert request.context.values(key) == ((value,) if value else ())


def test_a_session_has_no_path_of_its_role_and_keeps_the_partition() -> None:
    principal = Principal.role_session("arn:aws-cn:iam::111122223333:role/team/examplerole", "s")
    assert principal.arn == "arn:aws-cn:sts::111122223333:assumed-role/examplerole/s"


@pytest.mark.parametrize("name", ["AROAEXAMPLEID1234567", ROLE])
def test_a_role_is_named_by_its_unique_id_too(name: str) -> None:
    """IAM User Guide, "AWS JSON policy elements: Principal": saved policies hold the unique id of a role."""
    statement = {"Effect": "Allow", "Principal": {"AWS": name}, "Action": "sqs:*", "Resource": "*"}
    policy = parse_policy({"Statement": statement}, kind=PolicyKind.RESOURCE, name="p")
    request = Request(
        principal=Principal.role_session(ROLE, "s", "AROAEXAMPLEID1234567"), action="sqs:SendMessage", resource="*"
    )
    assert evaluate(request, Policies(resource=(policy,))).allowed


def test_an_identity_provider_is_a_principal_of_a_trust_policy() -> None:
    statement = {
        "Effect": "Allow",
        "Principal": {"Federated": "accounts.google.com"},
        "Action": "sts:AssumeRoleWithWebIdentity",
    }
    policy = parse_policy({"Statement": statement}, kind=PolicyKind.TRUST, name="p")
    for provider, allowed in {"accounts.google.com": True, "www.amazon.com": False}.items():
        request = Request(
            principal=Principal.federated(provider), action="sts:AssumeRoleWithWebIdentity", resource=ROLE
        )
        assert evaluate(request, Policies(resource=(policy,))).allowed == allowed
