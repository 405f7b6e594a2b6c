"""Service Quotas, reserved capacity and the policy simulation, as the local AWS answers them."""

import json

import pytest
from botocore.exceptions import ClientError

from cdk_trainyard.local import LocalAws
from cdk_trainyard.quotas import Quota

REGION = "eu-central-1"
USUAL = ("hyperpod-instances", "hyperpod-spot-instances", "hyperpod-instances-per-cluster", "hyperpod-volume")


def test_hyperpods_quotas_have_the_names_that_the_library_looks_for(aws: LocalAws) -> None:
    pages = aws.client("service-quotas", REGION).get_paginator("list_service_quotas")
    names = {row["QuotaName"] for page in pages.paginate(ServiceCode="sagemaker") for row in page["Quotas"]}
    assert {Quota.of(key).name for key in USUAL} <= names
    typed = ("hyperpod-nodes", "hyperpod-spot-nodes", "hyperpod-plan-nodes")
    assert {Quota.of(key, type="trn1.32xlarge").name for key in typed} <= names


def test_a_request_is_kept_and_one_at_a_time(aws: LocalAws) -> None:
    quotas, name = aws.client("service-quotas", REGION), "VPCs per Region"
    asked = {"ServiceCode": "vpc", "QuotaCode": "L-F678F1CE"}
    aws.set_quota("vpc", name, 7, REGION)
    assert quotas.get_service_quota(**asked)["Quota"]["Value"] == 7
    with pytest.raises(ClientError, match="greater than the current value"):
        quotas.request_service_quota_increase(**asked, DesiredValue=7)
    quotas.request_service_quota_increase(**asked, DesiredValue=9)
    with pytest.raises(ClientError, match="Only one open"):
        quotas.request_service_quota_increase(**asked, DesiredValue=10)
    (row,) = quotas.list_requested_service_quota_change_history(ServiceCode="vpc")["RequestedQuotas"]
    assert (row["QuotaName"], row["DesiredValue"], row["Status"]) == (name, 9, "PENDING")
    with pytest.raises(ClientError, match="NoSuchResource"):
        quotas.get_service_quota(ServiceCode="vpc", QuotaCode="L-00000000")


def test_a_reservation_that_is_made_is_described(aws: LocalAws) -> None:
    ec2 = aws.client("ec2", REGION)
    made = ec2.create_capacity_reservation(
        InstanceType="p5.48xlarge", InstancePlatform="Linux/UNIX", AvailabilityZone=f"{REGION}a", InstanceCount=2
    )["CapacityReservation"]
    identifier = made["CapacityReservationId"]
    (row,) = ec2.describe_capacity_reservations(CapacityReservationIds=[identifier])["CapacityReservations"]
    assert (row["State"], row["TotalInstanceCount"], row["AvailabilityZone"]) == ("active", 2, f"{REGION}a")
    with pytest.raises(ClientError, match=r"InvalidCapacityReservationId\.NotFound"):
        ec2.describe_capacity_reservations(CapacityReservationIds=["cr-0000000000000000f"])


def test_the_simulation_is_of_the_policies_of_a_role(aws: LocalAws) -> None:
    iam = aws.client("iam")
    arn = iam.create_role(RoleName="simulated", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    statements = [
        {"Effect": "Allow", "Action": ["s3:*", "ec2:Describe*"], "Resource": "*"},
        {"Effect": "Deny", "Action": "s3:DeleteBucket", "Resource": "*"},
    ]
    document = json.dumps({"Version": "2012-10-17", "Statement": statements})
    iam.put_role_policy(RoleName="simulated", PolicyName="a", PolicyDocument=document)
    names = ["s3:CreateBucket", "s3:DeleteBucket", "ec2:RunInstances", "ec2:DescribeVpcs"]
    rows = iam.simulate_principal_policy(PolicySourceArn=arn, ActionNames=names)["EvaluationResults"]
    decided = {row["EvalActionName"]: row["EvalDecision"] for row in rows}
    assert decided == dict(zip(names, ["allowed", "explicitDeny", "implicitDeny", "allowed"], strict=True))
    with pytest.raises(ClientError, match="NoSuchEntity"):
        iam.simulate_principal_policy(PolicySourceArn=f"{arn}-not", ActionNames=names)
    iam.delete_role_policy(RoleName="simulated", PolicyName="a")
    iam.delete_role(RoleName="simulated")
