"""Generate the names of the services that have interface endpoints, and none here: they are no misspelt ones.

``python -m tools.generate_endpoints`` rewrites ``cdk_trainyard/network/data/other_endpoints.json``; a test generates it
again and compares.
"""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Final

from aws_cdk import aws_ec2 as ec2

from cdk_trainyard.network.spec import Endpoint

OUTPUT: Final = Path(__file__).parents[1] / "constructs" / "cdk_trainyard" / "network" / "data" / "other_endpoints.json"
_FIPS: Final = "-fips"


def others() -> list[str]:
    """Return the names of all services of CDK's list that no member of `Endpoint` is, gateways not among them."""
    known = ec2.InterfaceVpcEndpointAwsService
    names = {getattr(known, each).short_name.removesuffix(_FIPS) for each in dir(known) if each.isupper()}
    return sorted(names - {*Endpoint} - {"s3"})


def text() -> str:
    """Return the content of the file."""
    source = f"aws-cdk-lib {version('aws-cdk-lib')}, InterfaceVpcEndpointAwsService, by tools/generate_endpoints.py"
    return f'{{"source": {json.dumps(source)},\n "services": {json.dumps(others())}}}\n'


if __name__ == "__main__":
    OUTPUT.write_text(text())
