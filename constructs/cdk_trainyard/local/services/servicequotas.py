"""Service Quotas: what an account's quotas are, which a test may set, and requests to raise them, which nobody decides.

Of ``vpc`` the names, codes and values are AWS's own answer, as moto holds it. SageMaker has those that botocore's
enumeration of HyperPod's types makes, by the pattern of the developer guide ("Prerequisites for using SageMaker
HyperPod"), with codes that are made up. Of other services there is what was set.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from typing import Any

from moto.servicequotas.resources.default_quotas.vpc import VPC_DEFAULT_QUOTAS
from moto.servicequotas.responses import ServiceQuotasResponse

from cdk_trainyard.local.clients import input_shape
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request, install
from cdk_trainyard.local.state import Store

Row = dict[str, Any]
_SET: Store[dict[tuple[str, str], float]] = Store(lambda _account, _region: {})
_REQUESTS: Store[list[Row]] = Store(lambda _account, _region: [])
_PAGE, _LONGEST_PAGE = 100, 100
_HYPERPOD = {
    "Total number of instances allowed across SageMaker HyperPod clusters": 30,
    "Total number of Spot instances allowed across SageMaker HyperPod clusters": 0,
    "Maximum number instances allowed per SageMaker HyperPod cluster": 20,
    "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance": 1024,
}
"""As an account of 2026 was seen to have them."""
_BY_TYPE = (
    "{} for cluster usage",
    "{} for cluster spot instance usage",
    "Number of {} instances in reserved capacity across training plans per Region",
    "{} for training job usage",
)


def set_quota(account: str, region: str, service: str, name: str, value: float) -> None:
    """Set a quota, one that there was not yet, too."""
    _SET.of(account, region)[service, name] = value


@cache
def _known(service: str) -> Mapping[str, Row]:
    if service == "vpc":
        return {str(row["QuotaName"]): dict(row) for row in VPC_DEFAULT_QUOTAS}
    if service != "sagemaker":
        return {}
    shape = input_shape("sagemaker", "us-east-1", "create_cluster").members["InstanceGroups"].member
    named = {form.format(str(kind)): 0 for kind in shape.members["InstanceType"].enum for form in _BY_TYPE}
    return {name: _row(service, name, value) for name, value in (_HYPERPOD | named).items()}


def _row(service: str, name: str, value: float) -> Row:
    return {
        "ServiceCode": service,
        "ServiceName": service,
        "QuotaCode": f"L-{sha256(f'{service} {name}'.encode()).hexdigest()[:8].upper()}",
        "QuotaName": name,
        "Value": float(value),
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
    }


def _quotas(request: Request) -> list[Row]:
    """Return the quotas of a service as they are in this account, without their ARNs."""
    service = request["ServiceCode"]
    rows = dict(_known(service))
    for (of, name), value in _SET.of(request.account, request.region).items():
        if of == service:
            rows[name] = {**rows.get(name, _row(service, name, value)), "Value": float(value)}
    return [rows[name] for name in sorted(rows)]


def _named(request: Request, row: Row) -> Row:
    return {**row, "QuotaArn": request.arn("servicequotas", f"{row['ServiceCode']}/{row['QuotaCode']}")}


def _page(request: Request, rows: list[Row], member: str) -> Row:
    start, size = int(request.get("NextToken", 0)), min(request.get("MaxResults", _PAGE), _LONGEST_PAGE)
    more = {"NextToken": str(start + size)} if start + size < len(rows) else {}
    return {member: rows[start : start + size], **more}


def list_service_quotas(request: Request) -> Row:
    """Return the quotas of a service in this account."""
    page = _page(request, _quotas(request), "Quotas")
    return {**page, "Quotas": [_named(request, row) for row in page["Quotas"]]}


def list_aws_default_service_quotas(request: Request) -> Row:
    """Return the quotas of a service as new accounts have them."""
    return _page(request, list(_known(request["ServiceCode"]).values()), "Quotas")


def get_service_quota(request: Request) -> Row:
    """Return one quota by its code."""
    for row in _quotas(request):
        if row["QuotaCode"] == request["QuotaCode"]:
            return {"Quota": _named(request, row)}
    raise ApiError("NoSuchResourceException", "The request failed because the specified quota was not found.")


def request_service_quota_increase(request: Request) -> Row:
    """Take a request, which stays open: AWS's people decide."""
    quota = get_service_quota(request)["Quota"]
    if request["DesiredValue"] <= quota["Value"]:
        raise ApiError("IllegalArgumentException", "You must provide a quota value greater than the current value.")
    requests = _REQUESTS.of(request.account, request.region)
    if any(row["QuotaCode"] == quota["QuotaCode"] for row in requests):
        raise ApiError("ResourceAlreadyExistsException", "Only one open service quota increase request is allowed.")
    row = {
        **{name: quota[name] for name in ("ServiceCode", "QuotaCode", "QuotaName", "QuotaArn")},
        "Id": f"{len(requests):032x}",
        "DesiredValue": request["DesiredValue"],
        "Status": "PENDING",
        "Created": datetime.now(UTC),
    }
    requests.append(row)
    return {"RequestedQuota": row}


def list_requested_service_quota_change_history(request: Request) -> Row:
    """Return the requests of an account."""
    wanted = request.get("ServiceCode")
    rows = [row for row in _REQUESTS.of(request.account, request.region) if wanted in {None, row["ServiceCode"]}]
    return _page(request, rows, "RequestedQuotas")


def extend() -> None:
    """Put these quotas in the place of moto's."""
    operations = (
        get_service_quota,
        list_aws_default_service_quotas,
        list_requested_service_quota_change_history,
        list_service_quotas,
        request_service_quota_increase,
    )
    install(ServiceQuotasResponse, {operation.__name__: operation for operation in operations})
