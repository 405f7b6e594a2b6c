"""What a deployment finds in its account and does not make itself: made up here, under the very ARN that it names."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from moto.acm.models import acm_backends
from moto.kms.models import kms_backends
from moto.secretsmanager.models import secretsmanager_backends

from cdk_trainyard.local.clients import client
from cdk_trainyard.local.environment import DEFAULT_REGION
from cdk_trainyard.local.services.accounts import current

_PARTS = 6
_SUFFIX = "-XXXXXX"  # Secrets Manager ends the ARN of every secret with six characters of its own
_ANYBODY = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}],
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Arn:
    """An ARN's parts; ``kind`` and ``name`` are those of its resource."""

    text: str
    service: str
    region: str
    account: str
    kind: str
    name: str

    @classmethod
    def parse(cls, text: str) -> "_Arn":
        """Return the parts of ``text``.

        Raises:
            ValueError: It is no ARN.
        """
        parts = text.split(":", _PARTS - 1)
        if len(parts) != _PARTS or parts[0] != "arn":
            raise ValueError(f"'{text}' is no ARN: arn:<partition>:<service>:<region>:<account>:<resource>")
        _, _, service, region, account, resource = parts
        cut = min((resource.find(mark) for mark in "/:" if mark in resource), default=-1)
        kind, name = (resource[:cut], resource[cut + 1 :]) if cut >= 0 else ("", resource)
        return cls(text=text, service=service, region=region, account=account, kind=kind, name=name)


def _certificate(arn: _Arn) -> None:
    backend = acm_backends[current()][arn.region]
    made = client("acm", arn.region).request_certificate(DomainName="existing.example", ValidationMethod="DNS")
    bundle = backend._certificates.pop(made["CertificateArn"])  # noqa: SLF001  the API chooses its ARNs itself
    bundle.arn = arn.text
    backend._certificates[arn.text] = bundle  # noqa: SLF001  as above


def _secret(arn: _Arn) -> None:
    name = arn.name[: -len(_SUFFIX)] if arn.name[-len(_SUFFIX) :].startswith("-") else arn.name
    secrets = client("secretsmanager", arn.region)
    secrets.create_secret(Name=name, SecretString=secrets.get_random_password()["RandomPassword"])
    secretsmanager_backends[current()][arn.region].secrets[name].arn = arn.text


def _key(arn: _Arn) -> None:
    keys = kms_backends[current()][arn.region].keys
    made = keys.pop(client("kms", arn.region).create_key()["KeyMetadata"]["KeyId"])
    made.id, made.arn = arn.name, arn.text
    keys[arn.name] = made


def _bucket(arn: _Arn) -> None:
    client("s3", DEFAULT_REGION).create_bucket(Bucket=arn.name)


def _role(arn: _Arn) -> None:
    path, _, name = arn.name.rpartition("/")
    client("iam", DEFAULT_REGION).create_role(
        Path=f"/{path}/" if path else "/", RoleName=name, AssumeRolePolicyDocument=json.dumps(_ANYBODY)
    )


def _key_pair(arn: _Arn) -> None:
    client("ec2", arn.region).create_key_pair(KeyName=arn.name)


def _topic(arn: _Arn) -> None:
    client("sns", arn.region).create_topic(Name=arn.name)


_MAKERS: Mapping[tuple[str, str], Callable[[_Arn], None]] = {
    ("acm", "certificate"): _certificate,
    ("ec2", "key-pair"): _key_pair,
    ("iam", "role"): _role,
    ("kms", "key"): _key,
    ("s3", ""): _bucket,
    ("secretsmanager", "secret"): _secret,
    ("sns", ""): _topic,
}


def make_existing(text: str) -> None:
    """Make a certificate, key pair, role, key, bucket, secret or topic of the ARN ``text``, as if somebody else had.

    Raises:
        ValueError: Nothing with this ARN can be made here; says why.
    """
    arn = _Arn.parse(text)
    if arn.account not in ("", current()):
        raise ValueError(f"'{text}' is of account {arn.account}; the local AWS is account {current()}")
    make = _MAKERS.get((arn.service, arn.kind))
    if make is None:
        known = ", ".join(f"{service} {kind}".strip() for service, kind in _MAKERS)
        raise ValueError(f"'{text}' cannot be made up: an ARN says enough of {known} only")
    make(arn)
