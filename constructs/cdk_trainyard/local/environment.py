"""The environment in which AWS SDKs and the CDK CLI reach the local AWS, and can reach nothing else."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from cdk_trainyard.local.access.credentials import Credentials

ACCOUNT = "123456789012"
"""The account number that every caller has, unless another is asked for."""

DEFAULT_REGION = "us-east-1"

_DROPPED_PREFIXES = ("AWS_", "CDK_DEFAULT_")
_LOOPBACK = "127.0.0.1,localhost"


def environment(
    endpoint: str, region: str, inherited: Mapping[str, str], credentials: Credentials, account: str = ACCOUNT
) -> dict[str, str]:
    """Return ``inherited`` with every way to a real account removed and the way to ``endpoint`` put in.

    Every inherited ``AWS_*`` variable is dropped: profiles, credentials, endpoints and regions of a real account. The
    shared configuration files and the instance metadata are switched off, so that nothing is left to find.

    Args:
        endpoint: ``http://127.0.0.1:<port>``, where the server listens.
        region: The region that the SDKs and the CDK app see.
        inherited: The variables to start from, usually ``os.environ``.
        credentials: What calls are signed with.
        account: The account that the CDK app sees.
    """
    kept = {name: value for name, value in inherited.items() if not name.startswith(_DROPPED_PREFIXES)}
    no_proxy = ",".join(filter(None, [kept.get("NO_PROXY") or kept.get("no_proxy"), _LOOPBACK]))
    return {
        **kept,
        "NO_PROXY": no_proxy,
        "no_proxy": no_proxy,
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ENDPOINT_URL_S3": endpoint,
        **credentials.variables,
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "CDK_DEFAULT_ACCOUNT": account,
        "CDK_DEFAULT_REGION": region,
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CDK_DISABLE_VERSION_CHECK": "1",
        "CDK_NOTICES": "false",
    }


@contextmanager
def no_account() -> Iterator[None]:
    """Hide every ``AWS_*`` variable from what is done inside.

    moto and botocore look for the user's profile when they are imported, and fail when there is none of its name.
    """
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("AWS_")}
    os.environ.update(AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull)
    try:
        yield
    finally:
        del os.environ["AWS_CONFIG_FILE"], os.environ["AWS_SHARED_CREDENTIALS_FILE"]
        os.environ.update(hidden)
