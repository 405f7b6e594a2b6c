"""S3, without bucket policies being enforced.

moto enforces them but ignores their conditions, so that "deny without TLS" (CDK's ``enforce_ssl``, and the bootstrap
bucket) would deny everything. No other policy is enforced here, so these are not either; they are kept and returned.
For the same reason access logs may be sent to any bucket: CloudFormation writes the policy that allows it at any time.
"""

from typing import Any

from moto.iam.access_control import PermissionResult
from moto.s3.models import FakeBucket

from cdk_trainyard.local.services.api import replace


def _neutral(_bucket: FakeBucket, _action: str, _resource: str) -> PermissionResult:
    return PermissionResult.NEUTRAL


def _may_log(*_: Any, **__: Any) -> bool:
    return True


_CORRECTIONS = {"get_permission": _neutral, "_log_permissions_enabled_policy": staticmethod(_may_log)}


def extend() -> None:
    """Correct moto's S3."""
    replace(FakeBucket, _CORRECTIONS)
