"""An AWS on one machine, for CDK apps: the real ``cdk`` CLI deploys to it, boto3 reads it back.

Needs the extra: ``pip install 'cdk-trainyard[local]'``.
"""

from importlib.util import find_spec

from cdk_trainyard.local.environment import no_account

if find_spec("moto") is None:
    raise ImportError("cdk_trainyard.local needs its extra: pip install 'cdk-trainyard[local]'")
with no_account():
    from cdk_trainyard.local import reading as reading  # first: it is how moto is imported
    from cdk_trainyard.local.faults import Fault
    from cdk_trainyard.local.registry import supported_types
    from cdk_trainyard.local.server import LocalAws

__all__ = ["Fault", "LocalAws", "supported_types"]
