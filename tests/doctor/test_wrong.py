"""Each check with what it looks for wrong: what is said, and what to do."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cdk_trainyard.deployment.monitoring import MonitoringSection
from cdk_trainyard.doctor import CHECKS, Verdict
from cdk_trainyard.local import Fault, LocalAws
from tests.doctor.parts import BLOCK, asked, changed, of, one, put_right, shipped, written, wrong

WEST = "us-west-2"
DEPLOYER = f"cdk-hnb659fds-cfn-exec-role-123456789012-{WEST}"
RESERVATION = "cr-0123456789abcdef0"
PLAN = """
name: planned
region: us-west-2
network: {{ zone: usw2-az4 }}
orchestrator: hyperpod
cluster:
  cluster_name: planned
  groups:
    controller: {{ role: controller, instance_type: ml.m5.large, count: 1 }}
    workers:
      role: compute
      instance_type: ml.p5.48xlarge
      count: 4
      training_plan_arn: {arn}
"""
PLAN_ARN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/mine"
EXISTING = """
name: there
region: us-west-2
network:
  vpc_id: vpc-0123456789abcdef0
  cidr: 10.9.0.0/16
  accelerator_subnet: { subnet_id: subnet-0123456789abcdef0, zone: us-west-2a, cidr: 10.9.0.0/26 }
  security_group_id: sg-0123456789abcdef0
orchestrator: hyperpod
cluster:
  groups:
    controller: { role: controller, instance_type: ml.m5.large, count: 1 }
    workers: { role: compute, instance_type: ml.c5.4xlarge, count: 9 }
"""


@pytest.fixture(scope="module", autouse=True)
def _right(here: LocalAws) -> None:
    for name in ("serving-inf2-tgi", "fleet-p5-capacity-block"):
        put_right(here, shipped(name))


def test_another_account(here: LocalAws, tmp_path: Path) -> None:
    name = "hyperpod-cpu-ddp"
    deployment = changed(tmp_path, name, (f"name: {name}", f"name: {name}\naccount: '999999999999'"))
    finding = asked(here, deployment)[0]
    assert (finding.check, finding.verdict, finding.needed) == ("account", Verdict.SHORT, "the account 999999999999")
    assert finding.has.startswith("123456789012, as arn:aws:sts::123456789012:")
    assert finding.at.endswith("x.yaml:6:10") or ":" in finding.at


def test_no_bootstrap(here: LocalAws) -> None:
    ssm = here.client("ssm", WEST)
    deployment, parameter = shipped("serving-inf2-tgi"), "/cdk-bootstrap/hnb659fds/version"
    ssm.put_parameter(Name=parameter, Value="5", Type="String", Overwrite=True)
    finding = one(here, deployment, "bootstrap", "version")
    assert (finding.verdict, finding.has) == (Verdict.SHORT, "version 5")
    ssm.delete_parameter(Name=parameter)
    finding = one(here, deployment, "bootstrap", "version")
    assert (finding.verdict, finding.has) == (Verdict.SHORT, "it is not bootstrapped")
    assert finding.remedy == "cdk bootstrap aws://123456789012/us-west-2"
    put_right(here, deployment)
    bucket = f"cdk-hnb659fds-assets-123456789012-{WEST}"
    here.client("s3", "us-east-1").delete_bucket(Bucket=bucket)
    finding = one(here, deployment, "bootstrap", bucket)
    assert (finding.verdict, finding.has) == (Verdict.SHORT, "it is gone")
    put_right(here, deployment)


def test_a_bootstrap_with_a_qualifier_of_its_own(here: LocalAws) -> None:
    deployment = shipped("serving-inf2-tgi")
    finding = one(here, deployment, "bootstrap", "version", qualifier="mine")
    assert (finding.verdict, finding.has) == (Verdict.SHORT, "it is not bootstrapped")
    assert finding.remedy == (
        "cdk bootstrap --qualifier mine --toolkit-stack-name CDKToolkit-mine aws://123456789012/us-west-2"
    )
    put_right(here, deployment, qualifier="mine")
    found = asked(here, deployment, qualifier="mine")
    assert wrong(found) == []
    assert of(found, "bootstrap", "role").needed == f"its role cdk-mine-cfn-exec-role-123456789012-{WEST}"
    assert (
        of(found, "deployer", "actions").has
        == f"arn:aws:iam::123456789012:role/cdk-mine-cfn-exec-role-123456789012-{WEST}"
    )


def test_whether_it_is_bootstrapped_is_not_told(here: LocalAws) -> None:
    with here.faults(Fault(call="ssm GetParameter", code="AccessDeniedException", message="not you")):
        found = asked(here, shipped("hyperpod-trn1-llama2"), "bootstrap", "deployer")
    assert of(found, "bootstrap").verdict is Verdict.UNKNOWN
    assert of(found, "deployer", "actions").verdict is Verdict.UNKNOWN


def test_a_deployer_that_may_not(here: LocalAws) -> None:
    iam, role = here.client("iam"), DEPLOYER
    administrator = "arn:aws:iam::aws:policy/AdministratorAccess"
    deployment = shipped("hyperpod-trn1-llama2")
    iam.detach_role_policy(RoleName=role, PolicyArn=administrator)
    most = '{"Effect": "Allow", "NotAction": "sagemaker:CreateCluster", "Resource": "*"}'
    never = '{"Effect": "Deny", "Action": "fsx:CreateFileSystem", "Resource": "*"}'
    document = f'{{"Version": "2012-10-17", "Statement": [{most}, {never}]}}'
    iam.put_role_policy(RoleName=role, PolicyName="most", PolicyDocument=document)
    finding = one(here, deployment, "deployer", "actions")
    iam.delete_role_policy(RoleName=role, PolicyName="most")
    iam.attach_role_policy(RoleName=role, PolicyArn=administrator)
    assert finding.verdict is Verdict.SHORT
    assert finding.has.endswith(f"{role} may not fsx:CreateFileSystem (denied), sagemaker:CreateCluster")
    assert one(here, deployment, "deployer", "actions").verdict is Verdict.OK


def test_a_service_linked_role_that_is_not_made(here: LocalAws) -> None:
    deployment = shipped("hyperpod-trn1-llama2")
    iam = here.client("iam")
    (role,) = iam.list_roles(PathPrefix="/aws-service-role/fsx.amazonaws.com/")["Roles"]
    iam.delete_role(RoleName=role["RoleName"])
    finding = one(here, deployment, "service role", "fsx")
    worker = f"arn:aws:iam::123456789012:role/{DEPLOYER}"
    makes = "it is not made yet: fsx:CreateFileSystem makes it"
    assert (finding.verdict, finding.remedy) == (Verdict.OK, "")
    assert finding.has == f"{makes}, and {worker} may iam:CreateServiceLinkedRole"
    condition = {"StringNotEquals": {"iam:AWSServiceName": ["rds.amazonaws.com", "hyperpod.sagemaker.amazonaws.com"]}}
    never = {"Effect": "Deny", "Action": "iam:CreateServiceLinkedRole", "Resource": "*", "Condition": condition}
    document = json.dumps({"Version": "2012-10-17", "Statement": never})
    iam.put_role_policy(RoleName=DEPLOYER, PolicyName="not-fsx", PolicyDocument=document)
    finding = one(here, deployment, "service role", "fsx")
    iam.delete_role_policy(RoleName=DEPLOYER, PolicyName="not-fsx")
    assert finding.verdict is Verdict.SHORT
    assert finding.has == f"{makes}, but {worker} may not iam:CreateServiceLinkedRole"
    assert finding.remedy == "aws iam create-service-linked-role --aws-service-name fsx.amazonaws.com"
    with here.faults(Fault(call="iam SimulatePrincipalPolicy", code="AccessDenied", message="not you")):
        finding = one(here, deployment, "service role", "fsx")
    assert finding.verdict is Verdict.UNKNOWN
    put_right(here, deployment)


def test_a_service_linked_role_that_its_service_makes_too_late(here: LocalAws) -> None:
    iam = here.client("iam")
    (role,) = iam.list_roles(PathPrefix="/aws-service-role/ecs.amazonaws.com/")["Roles"]
    iam.delete_role(RoleName=role["RoleName"])
    finding = one(here, shipped("serving-inf2-tgi"), "service role", "of ecs.amazonaws.com")
    assert (finding.verdict, finding.has) == (Verdict.SHORT, "it is not made yet")
    put_right(here, shipped("serving-inf2-tgi"))


@pytest.mark.parametrize(
    ("name", "zone", "kind", "verdict"),
    [
        ("parallelcluster-trn1", "usw2-az4", "trn1.32xlarge", Verdict.SHORT),
        ("hyperpod-trn1-llama2", "usw2-az4", "ml.trn1.32xlarge", Verdict.UNKNOWN),
    ],
)
def test_a_type_that_the_zone_does_not_have(
    here: LocalAws, tmp_path: Path, name: str, zone: str, kind: str, verdict: Verdict
) -> None:
    offers = here.client("ec2", WEST).describe_instance_type_offerings(
        LocationType="availability-zone-id", Filters=[{"Name": "instance-type", "Values": [kind.removeprefix("ml.")]}]
    )["InstanceTypeOfferings"]
    where = sorted(row["Location"] for row in offers)
    without = next(f"usw2-az{number}" for number in range(1, 5) if f"usw2-az{number}" not in where)
    finding = one(here, changed(tmp_path, name, (zone, without)), "zone", f"{kind} in")
    assert (finding.verdict, finding.needed) == (verdict, f"{kind} in {without}")
    assert finding.has.startswith(f"EC2 offers it in {', '.join(where)}")
    assert finding.remedy == f"network: zone: {where[0]}"


def test_a_zone_that_the_account_does_not_have(here: LocalAws, tmp_path: Path) -> None:
    deployment = changed(
        tmp_path,
        "fleet-p5-capacity-block",
        ("us-west-2", "ap-northeast-1"),
        ("zone: ap-northeast-1a", "zone: ap-northeast-1b"),
    )
    finding = one(here, deployment, "zone", "the zone ap-northeast-1b")
    assert finding.verdict is Verdict.SHORT
    assert finding.has.startswith("no such zone: there are apne1-az")


@pytest.mark.parametrize(
    ("said", "has"),
    [
        ({"State": "expired"}, "it is expired"),
        ({"InstanceType": "p4d.24xlarge"}, "it is of p4d.24xlarge"),
        ({"InstanceCount": "8"}, "it has 8 instances"),
        ({"AvailabilityZone": "us-west-2b"}, "it is in usw2-az1"),
        (
            {"StartDate": "2027-06-02T11:30:00+00:00"},
            "it starts at 2027-06-02 11:30 UTC, and the file says 2027-06-01 11:30",
        ),
        (
            {"EndDate": "2027-06-10T11:30:00+00:00"},
            "it ends at 2027-06-10 11:30 UTC, and the file says 2027-06-15 11:30",
        ),
        (None, "there is none"),
    ],
)
def test_a_block_that_does_not_match(
    here: LocalAws, tmp_path: Path, said: dict[str, str] | None, has: str, request: pytest.FixtureRequest
) -> None:
    number = f"cr-{abs(hash(request.node.name)) % 16**17:017x}"
    if said is not None:
        arn, *rest = BLOCK.split(",")
        keys = dict(part.split("=", 1) for part in rest) | said
        here.add_existing(",".join([arn.replace(RESERVATION, number), *(f"{key}={keys[key]}" for key in keys)]))
    deployment = changed(tmp_path, "fleet-p5-capacity-block", (RESERVATION, number))
    finding = one(here, deployment, "capacity")
    assert (finding.verdict, finding.has) == (Verdict.SHORT, has)
    assert (
        "on offer: 16 p5.48xlarge in us-west-2a from 2027-06-01 11:30 UTC for 336 hours, 53760.00 USD" in finding.remedy
    )


def test_a_training_plan(here: LocalAws, tmp_path: Path) -> None:
    deployment = written(tmp_path, PLAN.format(arn=PLAN_ARN))
    put = f"{PLAN_ARN},InstanceType=ml.p5.48xlarge,AvailabilityZone=us-west-2d"
    finding = one(here, deployment, "capacity")
    assert (finding.verdict, finding.has) == (Verdict.SHORT, "there is none")
    assert "another one; on offer: 4 ml.p5.48xlarge in us-west-2a" in finding.remedy
    here.add_existing(f"{put},InstanceCount=3,TargetResources=training-job,Status=Expired")
    finding = one(here, deployment, "capacity")
    assert finding.has == "it is Expired; it is for training-job; it has 3 instances"
    here.add_existing(f"{put},InstanceCount=4")
    assert one(here, deployment, "capacity").verdict is Verdict.OK


@pytest.mark.parametrize(
    ("name", "old", "new", "has"),
    [
        (
            "fleet-p5-capacity-block",
            "dlami: base-oss-nvidia-driver-gpu-ubuntu-22.04",
            "ami_id: ami-0123456789abcdef0",
            "there is none, or it is not shared with this account",
        ),
        (
            "fleet-p5-capacity-block",
            "dlami: base-oss-nvidia-driver-gpu-ubuntu-22.04",
            "{ parameter: /mine/image, architecture: x86_64, user: ubuntu }",
            "no such parameter in this Region",
        ),
    ],
)
def test_an_image_that_is_not_there(here: LocalAws, tmp_path: Path, name: str, old: str, new: str, has: str) -> None:
    text = new if not new.startswith("{") else "\n    ".join(part.strip() for part in new.strip("{} ").split(","))
    finding = one(here, changed(tmp_path, name, (old, text)), "image")
    assert (finding.verdict, finding.has) == (Verdict.SHORT, has)


def _pending(here: LocalAws) -> str:
    acm = here.client("acm", WEST)
    return str(acm.request_certificate(DomainName="pending.example", ValidationMethod="DNS")["CertificateArn"])


@pytest.mark.parametrize(
    ("old", "new", "has"),
    [
        ("01234567-89ab-cdef-0123-456789abcdef", "99999999-89ab-cdef-0123-456789abcdef", "there is none"),
        (
            "arn:aws:acm:us-west-2:123456789012:certificate/01234567-89ab-cdef-0123-456789abcdef",
            _pending,
            "its status is PENDING_VALIDATION, and a listener wants ISSUED",
        ),
        ("secret:models-api-key-AbCdEf", "secret:other-api-key-AbCdEf", "there is none"),
    ],
)
def test_what_the_file_names_and_is_not_there(
    here: LocalAws, tmp_path: Path, old: str, new: str | Callable[[LocalAws], str], has: str
) -> None:
    value = new if isinstance(new, str) else new(here)
    found = asked(here, changed(tmp_path, "serving-inf2-tgi", (old, value)), "exists")
    (finding,) = (each for each in found if each.verdict is Verdict.SHORT)
    assert finding.has == has
    assert finding.remedy.endswith("one that is there and of use")


def test_a_certificate_of_another_account(here: LocalAws, tmp_path: Path) -> None:
    arn = "arn:aws:secretsmanager:us-west-2:123456789012:secret:models-api-key-AbCdEf"
    changes = (
        ("acm:us-west-2:123456789012", "acm:us-west-2:999999999999"),
        (
            f"kind: api-key\n      secret_arn: {arn}",
            "kind: none",
        ),
    )
    found = asked(here, changed(tmp_path, "serving-inf2-tgi", *changes), "exists")
    (finding,) = (each for each in found if each.verdict is Verdict.SHORT)
    assert finding.has == "there is none in this account, 123456789012: its ARN says 999999999999"


TOLD = "arn:aws:sns:us-west-2:123456789012:told"
EVENTS = {"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"}, "Action": "sns:Publish", "Resource": "*"}
ANYBODY_HERE = {
    "Effect": "Allow",
    "Principal": {"AWS": "*"},
    "Action": "SNS:Publish",
    "Resource": TOLD,
    "Condition": {"StringEquals": {"AWS:SourceOwner": "123456789012"}},
}
OF_ALARMS = {
    "Effect": "Allow",
    "Principal": {"Service": "cloudwatch.amazonaws.com"},
    "Action": "sns:Publish",
    "Resource": TOLD,
    "Condition": {"ArnLike": {"aws:SourceArn": "arn:aws:cloudwatch:us-west-2:123456789012:alarm:*"}},
}


@pytest.mark.parametrize(
    ("attributes", "short"),
    [
        ({"Policy": [EVENTS, ANYBODY_HERE]}, {"aps"}),
        ({"Policy": [OF_ALARMS]}, {"events", "aps"}),
        ({"Policy": [{**EVENTS, "Principal": "*"}]}, set()),
    ],
)
def test_a_topic_that_does_not_let_them_publish(
    here: LocalAws, tmp_path: Path, attributes: dict[str, object], short: set[str]
) -> None:
    said = "name: hyperpod-trn1-llama2"
    deployment = changed(tmp_path, said.removeprefix("name: "), (said, f"{said}\nalerts: {{ topic_arn: '{TOLD}' }}"))
    deployment = replace(deployment, monitoring=MonitoringSection())
    sns = here.client("sns", WEST)
    assert [each.check for each in asked(here, deployment) if TOLD in each.needed] == ["exists"]
    sns.create_topic(Name="told")
    for name, value in attributes.items():
        text = value if isinstance(value, str) else json.dumps({"Version": "2012-10-17", "Statement": value})
        sns.set_topic_attributes(TopicArn=TOLD, AttributeName=name, AttributeValue=text)
    found = asked(here, deployment, "alerts")
    sns.delete_topic(TopicArn=TOLD)
    assert {each.needed.partition(".")[0] for each in found} == {"cloudwatch", "events", "aps"}
    assert {each.needed.partition(".")[0] for each in found if each.verdict is Verdict.SHORT} == short
    assert all(each.remedy for each in found if each.verdict is Verdict.SHORT)


OF_KEY = {"Effect": "Allow", "Action": ["kms:GenerateDataKey*", "kms:Decrypt"], "Resource": "*"}
FOR_ALL = {"Service": ["cloudwatch.amazonaws.com", "events.amazonaws.com", "aps.amazonaws.com"]}
HERE_ONLY = {"StringEquals": {"aws:SourceAccount": "123456789012"}}


@pytest.mark.parametrize(
    ("statement", "short"),
    [
        ({**OF_KEY, "Principal": FOR_ALL}, set()),
        # EventBridge tells KMS no source, and a condition on one never holds
        ({**OF_KEY, "Principal": FOR_ALL, "Condition": HERE_ONLY}, {"events"}),
        ({**OF_KEY, "Principal": FOR_ALL, "Action": "kms:Decrypt"}, {"cloudwatch", "events", "aps"}),
        ({**OF_KEY, "Principal": {"Service": "cloudwatch.amazonaws.com"}}, {"events", "aps"}),
        ("alias/aws/sns", {"cloudwatch", "events", "aps"}),
        ("alias/gone", {"cloudwatch", "events", "aps"}),
    ],
)
def test_a_topic_whose_key_does_not_let_them_publish(
    here: LocalAws, tmp_path: Path, statement: dict[str, object] | str, short: set[str]
) -> None:
    said = "name: hyperpod-trn1-llama2"
    deployment = changed(tmp_path, said.removeprefix("name: "), (said, f"{said}\nalerts: {{ topic_arn: '{TOLD}' }}"))
    deployment = replace(deployment, monitoring=MonitoringSection())
    sns, kms, key = here.client("sns", WEST), here.client("kms", WEST), statement
    sns.create_topic(Name="told")
    if not isinstance(statement, str):
        key = kms.create_key(Policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]}))["KeyMetadata"][
            "KeyId"
        ]
    for name, value in (("KmsMasterKeyId", key), ("Policy", json.dumps({"Statement": [{**EVENTS, "Principal": "*"}]}))):
        sns.set_topic_attributes(TopicArn=TOLD, AttributeName=name, AttributeValue=value)
    found = [each for each in asked(here, deployment, "alerts") if "key of" in each.needed]
    with here.faults(Fault(call="kms GetKeyPolicy", code="AccessDeniedException", message="not you")):
        refused = [each for each in asked(here, deployment, "alerts") if "key of" in each.needed]
    sns.delete_topic(TopicArn=TOLD)
    assert {each.needed.partition(".")[0] for each in found} == {"cloudwatch", "events", "aps"}
    assert {each.needed.partition(".")[0] for each in found if each.verdict is Verdict.SHORT} == short
    assert all(each.remedy for each in found if each.verdict is Verdict.SHORT)
    assert isinstance(statement, str) or {each.remedy for each in refused} == {"allow kms:GetKeyPolicy"}


def test_a_stack_that_never_came_up(here: LocalAws) -> None:
    deployment = shipped("hyperpod-trn1-llama2")
    properties = '{"VpcId": "vpc-0123456789abcdeff", "CidrBlock": "10.0.0.0/24"}'
    broken = f'{{"Resources": {{"Bad": {{"Type": "AWS::EC2::Subnet", "Properties": {properties}}}}}}}'
    stacks, name = here.client("cloudformation", WEST), f"{deployment.name}-storage"
    stacks.create_stack(StackName=name, TemplateBody=broken)
    finding = one(here, deployment, "name", name)
    assert (finding.verdict, finding.has) == (Verdict.OK, "ROLLBACK_COMPLETE: cdk deploy deletes it first")
    stacks.delete_stack(StackName=name)


def test_a_name_that_a_cluster_has(here: LocalAws, tmp_path: Path) -> None:
    deployment = written(tmp_path, PLAN.format(arn=PLAN_ARN))
    iam, sagemaker = here.client("iam"), here.client("sagemaker", WEST)
    role = iam.create_role(RoleName="nodes", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    group = {
        "InstanceGroupName": "a",
        "InstanceType": "ml.m5.large",
        "InstanceCount": 1,
        "ExecutionRole": role,
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-x/y", "OnCreate": "on_create.sh"},
    }
    finding = one(here, deployment, "name", "the name planned")
    assert finding.verdict is Verdict.OK
    here.client("s3", "us-east-1").create_bucket(Bucket="sagemaker-x")
    here.client("s3", "us-east-1").put_object(Bucket="sagemaker-x", Key="y/on_create.sh", Body=b"")
    sagemaker.create_cluster(ClusterName="planned", InstanceGroups=[group])
    finding = one(here, deployment, "name", "the name planned")
    assert (finding.verdict, finding.has) == (Verdict.SHORT, "another cluster or stack has it")
    # and its node counts against the quota
    assert ", 1 in use" in one(here, deployment, "quota", "ml.m5.large for cluster usage").has


def test_a_subnet_with_too_few_addresses(here: LocalAws, tmp_path: Path) -> None:
    deployment = written(tmp_path, EXISTING)
    assert one(here, deployment, "addresses").has == "no such subnet"
    begin = f"arn:aws:ec2:{WEST}:123456789012"
    here.add_existing(f"{begin}:vpc/vpc-0123456789abcdef0,CidrBlock=10.9.0.0/16")
    subnet = "subnet/subnet-0123456789abcdef0,VpcId=vpc-0123456789abcdef0,CidrBlock=10.9.0.0/28"
    here.add_existing(f"{begin}:{subnet},AvailabilityZone=us-west-2a")
    finding = one(here, deployment, "addresses")
    assert (finding.verdict, finding.has) == (Verdict.OK, "11 free")
    for _ in range(3):
        here.client("ec2", WEST).create_network_interface(SubnetId="subnet-0123456789abcdef0")
    finding = one(here, deployment, "addresses")
    assert (finding.verdict, finding.has) == (Verdict.SHORT, "8 free")
    missing = one(here, deployment, "exists", "sg-0123456789abcdef0")
    assert (missing.verdict, missing.has) == (Verdict.SHORT, "there is none")


def test_networks_that_overlap_are_said(here: LocalAws) -> None:
    vpc = here.client("ec2", WEST).create_vpc(CidrBlock="10.1.0.0/20")["Vpc"]["VpcId"]
    finding = one(here, shipped("hyperpod-trn1-llama2"), "addresses")
    assert (finding.verdict, finding.has) == (
        Verdict.OK,
        f"it overlaps {vpc} (10.1.0.0/20): they could never be peered",
    )
    here.client("ec2", WEST).delete_vpc(VpcId=vpc)


def test_every_check_has_a_test_here() -> None:
    text = Path(__file__).read_text()
    assert [check.name for check in CHECKS if f'"{check.name}"' not in text] == []
