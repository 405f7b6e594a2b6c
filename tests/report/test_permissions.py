"""Roles in plain words, and who can read which data."""

from typing import Any

import pytest

from cdk_trainyard.report.permissions import Permissions

BUCKET = {"Type": "AWS::S3::Bucket"}
ARN = {"Fn::GetAtt": ["Data", "Arn"]}
WITHIN = {"Fn::Join": ["", [ARN, "/*"]]}
PART = {"Fn::Join": ["", [ARN, "/runs/*"]]}


def role(*statements: Any, trust: Any = None, **properties: Any) -> dict[str, Any]:
    principal = trust or {"Service": "ec2.amazonaws.com"}
    assume = {"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal}]}
    policies = [{"PolicyName": "own", "PolicyDocument": {"Statement": [*statements]}}]
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {"AssumeRolePolicyDocument": assume, "Policies": policies, **properties},
    }


def allow(action: Any, resource: Any = "*", **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def readers(permissions: Permissions, store: str = "S/Data") -> list[tuple[str, str]]:
    resource = permissions.graph.resources[store]
    return [(each.name.removeprefix("S/"), each.part) for each in permissions.readers(resource)]


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        ([allow("s3:GetObject", WITHIN)], [("Role", "")]),
        ([allow("s3:Get*", "arn:aws:s3:::*/*")], [("Role", "")]),
        ([allow("s3:GetObject", PART)], [("Role", "runs/*")]),
        ([allow("s3:GetObject", WITHIN, Condition={"StringEquals": {"aws:PrincipalTag/x": "y"}})], [("Role", "")]),
        ([allow("s3:ListBucket", ARN)], []),
        ([allow("s3:GetObject", "arn:aws:s3:::another/*")], []),
        ([allow("*"), {"Effect": "Deny", "Action": "s3:*", "Resource": WITHIN}], []),
        ([allow("*"), {"Effect": "Deny", "NotAction": "s3:*", "Resource": "*"}], [("Role", "")]),
    ],
)
def test_who_can_read_a_bucket(graph: Any, statements: list[Any], found: list[tuple[str, str]]) -> None:
    assert readers(Permissions(graph(S={"Data": BUCKET, "Role": role(*statements)}))) == found


def test_a_bucket_that_has_a_name_is_found_by_it(graph: Any) -> None:
    named = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": {"Fn::Sub": "data-${AWS::AccountId}"}}}
    reading = role(allow("s3:GetObject", {"Fn::Sub": "arn:${AWS::Partition}:s3:::data-${AWS::AccountId}/*"}))
    assert readers(Permissions(graph(S={"Data": named, "Role": reading}))) == [("Role", "")]


def test_policies_of_the_bucket_count(graph: Any) -> None:
    statements = [
        {
            "Effect": "Allow",
            "Principal": {"AWS": {"Fn::GetAtt": ["Friend", "Arn"]}},
            "Action": "s3:*",
            "Resource": WITHIN,
        },
        {"Effect": "Deny", "Principal": {"AWS": {"Fn::GetAtt": ["Foe", "Arn"]}}, "Action": "s3:*", "Resource": WITHIN},
        {
            "Effect": "Deny",
            "Principal": "*",
            "Action": "s3:*",
            "Resource": WITHIN,
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        },
    ]
    document = {"Bucket": {"Ref": "Data"}, "PolicyDocument": {"Version": "2012-10-17", "Statement": statements}}
    found = Permissions(
        graph(
            S={
                "Data": BUCKET,
                "Friend": role(),
                "Foe": role(allow("*")),
                "Policy": {"Type": "AWS::S3::BucketPolicy", "Properties": document},
            }
        )
    )
    assert readers(found) == [("Friend", "")]


def test_services_and_other_accounts_that_a_bucket_names_are_found(graph: Any) -> None:
    def statement(principal: Any, action: str) -> dict[str, Any]:
        return {"Effect": "Allow", "Principal": principal, "Action": action, "Resource": WITHIN}

    statements = [
        statement({"Service": "logging.s3.amazonaws.com"}, "s3:PutObject"),
        statement({"AWS": ["arn:aws:iam::111122223333:root"]}, "s3:GetObject"),
    ]
    document = {"Bucket": {"Ref": "Data"}, "PolicyDocument": {"Version": "2012-10-17", "Statement": statements}}
    found = Permissions(graph(S={"Data": BUCKET, "Policy": {"Type": "AWS::S3::BucketPolicy", "Properties": document}}))
    assert readers(found) == [("arn:aws:iam::111122223333:root", "")]
    store = found.graph.resources["S/Data"]
    assert [each.name for each in found.writers(store)] == ["the service logging.s3.amazonaws.com"]


def test_attached_policies_count_once_from_either_end(graph: Any) -> None:
    document = {"Statement": allow("secretsmanager:GetSecretValue", {"Ref": "Secret"})}
    found = Permissions(
        graph(
            S={
                "Secret": {"Type": "AWS::SecretsManager::Secret"},
                "Named": {
                    "Type": "AWS::IAM::ManagedPolicy",
                    "Properties": {"PolicyDocument": document, "Roles": [{"Ref": "One"}]},
                },
                "One": role(ManagedPolicyArns=[{"Ref": "Named"}, "arn:aws:iam::aws:policy/ReadOnlyAccess"]),
                "Two": role(),
            }
        )
    )
    assert readers(found, "S/Secret") == [("One", "")]
    one = found.roles[0]
    assert [each.source for each in one.grants] == ["S/Named"]
    assert one.managed == ("ReadOnlyAccess",)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (allow("*"), ("* on any resource: it can give itself every permission",)),
        (allow(["iam:PassRole", "s3:GetObject"]), ("iam:PassRole on any resource: hands any role to a service",)),
        (allow("iam:PassRole", "arn:aws:iam::1:role/mine"), ()),
        (
            allow("iam:PassRole", Condition={"StringEquals": {"iam:PassedToService": "x.com"}}),
            ("iam:PassRole on any resource: hands any role to a service, only where iam:PassedToService is x.com",),
        ),
        ({"Effect": "Deny", "Action": "*", "Resource": "*"}, ()),
        (allow("IAM:passrole"), ("IAM:passrole on any resource: hands any role to a service",)),
        (allow("iam:Pass*"), ("iam:Pass* on any resource: hands any role to a service",)),
        (
            {"Effect": "Allow", "NotAction": "ec2:*", "Resource": "*"},
            ("every action but ec2:* on any resource: it can give itself every permission",),
        ),
        (
            {"Effect": "Allow", "NotAction": ["iam:*", "s3:*"], "Resource": "*"},
            ("every action but iam:*, s3:* on any resource: takes on any role that trusts the account",),
        ),
        (
            allow("iam:PassRole", "arn:aws:iam::1:role/*"),
            ("iam:PassRole on arn:aws:iam::1:role/*: hands any role to a service",),
        ),
    ],
)
def test_what_could_escalate(graph: Any, statement: Any, said: tuple[str, ...]) -> None:
    assert Permissions(graph(S={"Role": role(statement)})).roles[0].escalations == said


@pytest.mark.parametrize(
    ("trust", "said"),
    [
        (
            {"Service": ["a.amazonaws.com", "b.amazonaws.com"]},
            ("the service a.amazonaws.com", "the service b.amazonaws.com"),
        ),
        ({"AWS": {"Fn::GetAtt": ["Role", "Arn"]}}, ("S/Role",)),
        ("*", ("anybody",)),
        ({"AWS": "*"}, ("anybody",)),
    ],
)
def test_who_takes_a_role_on(graph: Any, trust: Any, said: tuple[str, ...]) -> None:
    found = Permissions(graph(S={"Role": role(trust=trust)})).roles[0].trusts
    assert tuple(each.strip() for each in found) == said


def test_a_statement_that_nobody_understands_is_named_and_hides_no_other(graph: Any) -> None:
    found = Permissions(graph(S={"Data": BUCKET, "Role": role(allow("nonsense", 7), allow("s3:*", WITHIN))}))
    assert readers(found) == [("Role", "")]
    assert found.notes == ["S/Role (own): a statement that is no policy language that AWS describes"]


def test_nodes_whose_roles_parallelcluster_makes_have_the_policies_that_it_is_given(graph: Any) -> None:
    """AWS ParallelCluster User Guide, "AdditionalIamPolicies": policies that its own roles get beside their own."""
    policy = {"PolicyDocument": {"Statement": [allow("s3:GetObject", WITHIN)]}}
    iam = {"AdditionalIamPolicies": [{"Policy": {"Ref": "Nodes"}}]}
    permissions = Permissions(
        graph(
            S={
                "Data": BUCKET,
                "Nodes": {"Type": "AWS::IAM::ManagedPolicy", "Properties": policy},
                "Cluster": {
                    "Type": "Custom::PclusterCluster",
                    "Properties": {"ClusterConfiguration": {"HeadNode": {"Iam": iam}}},
                },
            }
        )
    )
    assert readers(permissions) == [("Cluster", "")]
    (nodes,) = permissions.roles
    assert nodes.trusts == ("nodes, by roles that ParallelCluster makes in a stack of its own",)


def test_users_and_what_their_groups_give_them_count(graph: Any) -> None:
    reading = {"PolicyName": "read", "PolicyDocument": {"Statement": allow("s3:GetObject", WITHIN)}}
    of_group = {"GroupName": {"Ref": "Group"}, **reading}
    found = Permissions(
        graph(
            S={
                "Data": BUCKET,
                "Alone": {"Type": "AWS::IAM::User", "Properties": {"Policies": [reading]}},
                "Group": {"Type": "AWS::IAM::Group"},
                "OfGroup": {"Type": "AWS::IAM::GroupPolicy", "Properties": of_group},
                "Member": {"Type": "AWS::IAM::User", "Properties": {"Groups": [{"Ref": "Group"}]}},
                "Added": {"Type": "AWS::IAM::User", "Properties": {"UserName": "added"}},
                "Addition": {
                    "Type": "AWS::IAM::UserToGroupAddition",
                    "Properties": {"GroupName": {"Ref": "Group"}, "Users": ["added"]},
                },
                "Stranger": {"Type": "AWS::IAM::User"},
            }
        )
    )
    assert readers(found) == [("Added", ""), ("Alone", ""), ("Member", "")]
    assert {each.trusts for each in found.roles} == {("whoever has the user's password or access keys",)}


def test_a_policy_that_is_a_resource_of_its_own_counts(graph: Any) -> None:
    own = {"RoleName": {"Ref": "Role"}, "PolicyName": "x", "PolicyDocument": {"Statement": allow("s3:*", WITHIN)}}
    found = Permissions(
        graph(S={"Data": BUCKET, "Role": role(), "Own": {"Type": "AWS::IAM::RolePolicy", "Properties": own}})
    )
    assert readers(found) == [("Role", "")]
