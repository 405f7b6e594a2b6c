"""What a deployment finds in its account and does not make itself: made up here, under the very ARN that it names."""

import json
from collections.abc import Callable, Mapping

from moto.acm.models import acm_backends
from moto.kms.models import kms_backends
from moto.secretsmanager.models import secretsmanager_backends

from cdk_trainyard.local.clients import client
from cdk_trainyard.local.environment import DEFAULT_REGION
from cdk_trainyard.local.existing_arn import Arn
from cdk_trainyard.local.existing_network import KINDS, make
from cdk_trainyard.local.services.accounts import current
from cdk_trainyard.local.services.capacity import add_plan, add_reservation

_SUFFIX = "-XXXXXX"  # Secrets Manager ends the ARN of every secret with six characters of its own
_ANYBODY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}],
}


def _certificate(arn: Arn) -> None:
    backend = acm_backends[current()][arn.region]
    made = client("acm", arn.region).request_certificate(DomainName="existing.example", ValidationMethod="DNS")
    bundle = backend._certificates.pop(made["CertificateArn"])  # noqa: SLF001  the API chooses its ARNs itself
    bundle.arn, bundle.status = arn.text, "ISSUED"
    backend._certificates[arn.text] = bundle  # noqa: SLF001  as above


def _secret(arn: Arn) -> None:
    name = arn.name[: -len(_SUFFIX)] if arn.name[-len(_SUFFIX) :].startswith("-") else arn.name
    secrets = client("secretsmanager", arn.region)
    secrets.create_secret(Name=name, SecretString=secrets.get_random_password()["RandomPassword"])
    secretsmanager_backends[current()][arn.region].secrets[name].arn = arn.text


def _key(arn: Arn) -> None:
    keys = kms_backends[current()][arn.region].keys
    made = keys.pop(client("kms", arn.region).create_key()["KeyMetadata"]["KeyId"])
    made.id, made.arn = arn.name, arn.text
    keys[arn.name] = made


def _bucket(arn: Arn) -> None:
    client("s3", DEFAULT_REGION).create_bucket(Bucket=arn.name)


def _role(arn: Arn) -> None:
    path, _, name = arn.name.rpartition("/")
    client("iam", DEFAULT_REGION).create_role(
        Path=f"/{path}/" if path else "/", RoleName=name, AssumeRolePolicyDocument=json.dumps(_ANYBODY)
    )


def _key_pair(arn: Arn) -> None:
    client("ec2", arn.region).create_key_pair(KeyName=arn.name)


def _topic(arn: Arn) -> None:
    client("sns", arn.region).create_topic(Name=arn.name)


def _keep(add: Callable[[str, str, str, dict[str, str]], object], arn: Arn) -> None:
    add(current(), arn.region, arn.name, dict(arn.said))


_SAID: Mapping[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]] = {
    ("ec2", "capacity-reservation"): (
        ("InstanceType", "InstanceCount", "AvailabilityZone"),
        ("State", "StartDate", "EndDate", "ReservationType", "AvailableInstanceCount"),
    ),
    ("sagemaker", "training-plan"): (
        ("InstanceType", "InstanceCount", "AvailabilityZone"),
        ("Status", "TargetResources", "AvailableInstanceCount"),
    ),
    **{("ec2", name): (kind.needs, kind.may) for name, kind in KINDS.items()},
}
"""What must be said beside an ARN, and what may be, too."""
_MAKERS: Mapping[tuple[str, str], Callable[[Arn], None]] = {
    ("acm", "certificate"): _certificate,
    ("ec2", "key-pair"): _key_pair,
    ("iam", "role"): _role,
    ("kms", "key"): _key,
    ("s3", ""): _bucket,
    ("secretsmanager", "secret"): _secret,
    ("sns", ""): _topic,
    ("ec2", "capacity-reservation"): lambda arn: _keep(add_reservation, arn),
    ("sagemaker", "training-plan"): lambda arn: _keep(add_plan, arn),
    **{("ec2", kind): make for kind in KINDS},
}


def make_existing(text: str) -> None:
    """Make what has the ARN ``text``, as if somebody else had; ``,Key=value`` says what the ARN of a network does not.

    Raises:
        ValueError: Nothing with this ARN can be made here; says why.
    """
    arn = Arn.parse(text)
    if arn.account not in ("", current()):
        raise ValueError(f"'{arn.text}' is of account {arn.account}; the local AWS is account {current()}")
    maker = _MAKERS.get((arn.service, arn.kind))
    if maker is None:
        known = ", ".join(sorted(f"{service} {kind}".strip() for service, kind in _MAKERS))
        raise ValueError(f"'{arn.text}' cannot be made up: of those that can are {known}")
    needs, may = _SAID.get((arn.service, arn.kind), ((), ()))
    if missing := [key for key in needs if key not in arn.said]:
        example = ",".join([arn.text, *(f"{key}=…" for key in needs)])
        raise ValueError(f"'{text}' lacks {' and '.join(missing)}, which the ARN does not say: {example}")
    if extra := sorted(arn.said.keys() - {*needs, *may}):
        takes = f"a {arn.kind} takes {', '.join([*needs, *may])}" if needs else "its ARN says everything"
        raise ValueError(f"'{text}' has {' and '.join(extra)}, but {takes}")
    maker(arn)
