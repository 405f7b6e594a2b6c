"""What the file names by id, name or ARN and does not make: whether it is there, in the right place and state."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from cdk_trainyard.account import Answer, Call
from cdk_trainyard.deployment.spec import DeploymentSpec
from cdk_trainyard.doctor.check import IDENTITY, Answers, Check
from cdk_trainyard.doctor.file import Said, values
from cdk_trainyard.doctor.finding import Finding, Verdict, unanswered
from cdk_trainyard.options.arns import account_of

NAME: Final = "exists"
_GLOBAL: Final = ("iam", "s3")
_AWSS: Final = "aws"

Parameters = Callable[[str], Mapping[str, Any]]


def _fine(_answer: Answer) -> str:
    return ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A kind of thing that a file may name.

    Attributes:
        noun: What messages call it.
        value: What names one: a regular expression.
        key: The options whose values are such names; empty: any.
        service: The service that knows it, as boto3 names it.
        operation: The operation that describes it.
        parameters: What is asked.
        member: The lists of the answer of which one must not be empty; empty: an answer is enough.
        wrong: What is wrong with one that is there; empty: nothing.
        any_region: Whether it is of use from another Region than its own.
    """

    noun: str
    value: str
    key: str = ".*"
    service: str
    operation: str
    parameters: Parameters
    member: tuple[str, ...] = ()
    wrong: Callable[[Answer], str] = _fine
    any_region: bool = False


def _certificate(answer: Answer) -> str:
    status = answer.value.get("Certificate", {}).get("Status")
    return "" if status == "ISSUED" else f"its status is {status}, and a listener wants ISSUED"


def _key(answer: Answer) -> str:
    state = answer.value.get("KeyMetadata", {}).get("KeyState")
    return "" if state == "Enabled" else f"it is {state}"


def _secret(answer: Answer) -> str:
    return "it is being deleted" if answer.value.get("DeletedDate") else ""


def _in_state(member: str, key: str, *right: str) -> Callable[[Answer], str]:
    def wrong(answer: Answer) -> str:
        states = {str(row.get(key)) for row in answer.items(member)}
        return "" if states <= set(right) else f"it is {', '.join(sorted(states))}"

    return wrong


def _ids(name: str) -> Parameters:
    return lambda value: {name: [value]}


def _arn(service: str, rest: str = "") -> str:
    return rf"arn:[\w-]+:{service}:[\w-]*:\d*:{rest}.*"


def _last(name: str) -> Parameters:
    return lambda value: {name: re.split("[/:]", value)[-1]}


def _repository(value: str) -> Mapping[str, Any]:
    return {"registryId": account_of(value), "repositoryNames": [value.partition(":repository/")[2]]}


_ALARMS: Final = {"MetricAlarm": "MetricAlarms", "CompositeAlarm": "CompositeAlarms"}
"""Types of alarms, and where an answer has them: of a type that is not asked for CloudWatch says nothing."""
KINDS: Final = (
    Kind(
        noun="certificate",
        value=_arn("acm"),
        service="acm",
        operation="DescribeCertificate",
        parameters=lambda value: {"CertificateArn": value},
        wrong=_certificate,
    ),
    Kind(
        noun="secret",
        value=_arn("secretsmanager"),
        service="secretsmanager",
        operation="DescribeSecret",
        parameters=lambda value: {"SecretId": value},
        wrong=_secret,
    ),
    Kind(
        noun="KMS key",
        value=_arn("kms", "key/"),
        service="kms",
        operation="DescribeKey",
        parameters=lambda value: {"KeyId": value},
        wrong=_key,
    ),
    Kind(noun="role", value=_arn("iam", "role/"), service="iam", operation="GetRole", parameters=_last("RoleName")),
    Kind(
        noun="policy",
        value=_arn("iam", "policy/"),
        service="iam",
        operation="GetPolicy",
        parameters=lambda value: {"PolicyArn": value},
    ),
    Kind(
        noun="topic",
        value=_arn("sns"),
        service="sns",
        operation="GetTopicAttributes",
        parameters=lambda value: {"TopicArn": value},
    ),
    Kind(
        noun="repository",
        value=_arn("ecr", "repository/[^*]+$"),
        service="ecr",
        operation="DescribeRepositories",
        parameters=_repository,
        member=("repositories",),
        any_region=True,
    ),
    Kind(
        noun="alarm",
        value=_arn("cloudwatch", "alarm:"),
        service="cloudwatch",
        operation="DescribeAlarms",
        parameters=lambda value: {"AlarmNames": [value.partition(":alarm:")[2]], "AlarmTypes": list(_ALARMS)},
        member=tuple(_ALARMS.values()),
    ),
    Kind(
        noun="bucket",
        key="bucket_name",
        value=".+",
        service="s3",
        operation="HeadBucket",
        parameters=lambda value: {"Bucket": value},
    ),
    Kind(
        noun="key pair",
        key="key_pair",
        value=".+",
        service="ec2",
        operation="DescribeKeyPairs",
        parameters=_ids("KeyNames"),
        member=("KeyPairs",),
    ),
    Kind(
        noun="FSx file system",
        key="file_system_id",
        value="fs-[0-9a-f]{17}",
        service="fsx",
        operation="DescribeFileSystems",
        parameters=_ids("FileSystemIds"),
        member=("FileSystems",),
        wrong=_in_state("FileSystems", "Lifecycle", "AVAILABLE", "UPDATING"),
    ),
    Kind(
        noun="backup",
        value="backup-[0-9a-f]+",
        service="fsx",
        operation="DescribeBackups",
        parameters=_ids("BackupIds"),
        member=("Backups",),
        wrong=_in_state("Backups", "Lifecycle", "AVAILABLE"),
    ),
    Kind(
        noun="FSx volume",
        value="fsvol-[0-9a-f]+",
        service="fsx",
        operation="DescribeVolumes",
        parameters=_ids("VolumeIds"),
        member=("Volumes",),
    ),
    Kind(
        noun="VPC",
        value="vpc-[0-9a-f]+",
        service="ec2",
        operation="DescribeVpcs",
        parameters=_ids("VpcIds"),
        member=("Vpcs",),
    ),
    Kind(
        noun="subnet",
        value="subnet-[0-9a-f]+",
        service="ec2",
        operation="DescribeSubnets",
        parameters=_ids("SubnetIds"),
        member=("Subnets",),
    ),
    Kind(
        noun="security group",
        value="sg-[0-9a-f]+",
        service="ec2",
        operation="DescribeSecurityGroups",
        parameters=_ids("GroupIds"),
        member=("SecurityGroups",),
    ),
    Kind(
        noun="route table",
        value="rtb-[0-9a-f]+",
        service="ec2",
        operation="DescribeRouteTables",
        parameters=_ids("RouteTableIds"),
        member=("RouteTables",),
    ),
    Kind(
        noun="elastic address",
        value="eipalloc-[0-9a-f]+",
        service="ec2",
        operation="DescribeAddresses",
        parameters=_ids("AllocationIds"),
        member=("Addresses",),
    ),
    Kind(
        noun="snapshot",
        value="snap-[0-9a-f]+",
        service="ec2",
        operation="DescribeSnapshots",
        parameters=_ids("SnapshotIds"),
        member=("Snapshots",),
        wrong=_in_state("Snapshots", "State", "completed"),
    ),
    Kind(
        noun="volume",
        value="vol-[0-9a-f]+",
        service="ec2",
        operation="DescribeVolumes",
        parameters=_ids("VolumeIds"),
        member=("Volumes",),
        wrong=_in_state("Volumes", "State", "available", "in-use"),
    ),
)
"""What a file may name. What it names otherwise (file systems by their DNS names, certificates of a trust store) is not
asked about."""


def _named(deployment: DeploymentSpec) -> Iterator[tuple[Said, Kind, Call]]:
    """Yield what the file names, each name once, with the call that asks about it."""
    seen: set[str] = set()
    for said in values(deployment):
        text = str(said.value)
        kind = next((row for row in KINDS if re.fullmatch(row.key, said.key) and re.fullmatch(row.value, text)), None)
        if kind is not None and text not in seen:
            seen.add(text)
            region = text.split(":")[3] if text.startswith("arn:") and kind.service not in _GLOBAL else ""
            other = region if region != deployment.region else ""
            yield said, kind, Call(kind.service, kind.operation, kind.parameters(text), other)


def calls(deployment: DeploymentSpec) -> Iterator[Call]:
    """Yield a call for each thing that the file names, and whose account it is."""
    yield IDENTITY
    yield from (call for _, _, call in _named(deployment))


def findings(deployment: DeploymentSpec, answers: Answers) -> Iterator[Finding]:
    """Yield whether each thing is there, in the deployment's Region, and of use."""
    for said, kind, call in _named(deployment):
        yield _finding(deployment, answers, said, kind, call)


def _finding(deployment: DeploymentSpec, answers: Answers, said: Said, kind: Kind, call: Call) -> Finding:
    words, at, answer = f"the {kind.noun} {said.value}", said.at(deployment), answers[call]
    problem = _elsewhere(deployment, kind, call)
    if not problem:
        if refused := answers.refused([call]):
            return unanswered(NAME, words, refused, at)
        problem = _problem(answer, kind)
        owner = account_of(said.value) if said.value.startswith("arn:") else ""
        if problem and answer.absent and owner not in {"", _AWSS, answers.account}:
            problem += f" in this account, {answers.account}: its ARN says {owner}"
    return Finding(
        check=NAME,
        needed=words,
        has=problem or "it is there",
        verdict=Verdict.SHORT if problem else Verdict.OK,
        call=call,
        remedy=f"{'.'.join(map(str, said.path))}: one that is there and of use" if problem else "",
        at=at,
    )


def _elsewhere(deployment: DeploymentSpec, kind: Kind, call: Call) -> str:
    """Return that it is of another Region, which its ARN says: nobody need be asked."""
    wrong = call.region and not kind.any_region
    return f"it is of {call.region}, and the deployment of {deployment.region}" if wrong else ""


def _problem(answer: Answer, kind: Kind) -> str:
    if answer.absent or (kind.member and not any(map(answer.items, kind.member))):
        return "there is none"
    return kind.wrong(answer)


CHECK: Final = Check(
    name=NAME,
    asks=tuple(dict.fromkeys(["sts GetCallerIdentity", *(f"{kind.service} {kind.operation}" for kind in KINDS)])),
    calls=calls,
    findings=findings,
)
"""Things that are named."""
