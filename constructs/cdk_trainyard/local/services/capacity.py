"""Capacity that is reserved: EC2's reservations and blocks, SageMaker's training plans; and offers, which are made up.

What there is was made by CreateCapacityReservation, or exists already. Of every type that training plans may have
(botocore's enumeration) there is one offer, of at most 64 instances.
"""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from moto.ec2.responses import EC2Response
from moto.sagemaker.responses import SageMakerResponse

from cdk_trainyard.local.clients import client, input_shape
from cdk_trainyard.local.errors import ApiError
from cdk_trainyard.local.services.api import Request, install
from cdk_trainyard.local.state import Store

Row = dict[str, Any]
_RESERVATIONS: Store[dict[str, Row]] = Store(lambda _account, _region: {})
_PLANS: Store[dict[str, Row]] = Store(lambda _account, _region: {})
_MOST, _DOLLARS_PER_HOUR = 64, 10
_START = datetime(2027, 6, 1, 11, 30, tzinfo=UTC)


def reservations(account: str, region: str) -> dict[str, Row]:
    """Return the capacity reservations by their ids."""
    return _RESERVATIONS.of(account, region)


def add_reservation(account: str, region: str, identifier: str, said: Row) -> Row:
    """Keep a reservation.

    Args:
        account: Its account.
        region: Its Region.
        identifier: Its id.
        said: What it is, as EC2 says it: type, count, zone, and dates, state and kind where they are not the usual.
    """
    count = int(said["InstanceCount"])
    zone = said["AvailabilityZone"]
    rows = client("ec2", region).describe_availability_zones()["AvailabilityZones"]
    known = next(row for row in rows if zone in {row["ZoneName"], row["ZoneId"]})
    row = {
        "CapacityReservationId": identifier,
        "OwnerId": account,
        "InstanceType": said["InstanceType"],
        "AvailabilityZone": known["ZoneName"],
        "AvailabilityZoneId": known["ZoneId"],
        "TotalInstanceCount": count,
        "AvailableInstanceCount": int(said.get("AvailableInstanceCount", count)),
        "State": said.get("State", "active"),
        "StartDate": _time(said.get("StartDate")),
        "EndDate": _time(said.get("EndDate")),
        "EndDateType": "limited" if said.get("EndDate") else "unlimited",
        "InstanceMatchCriteria": said.get("InstanceMatchCriteria", "targeted"),
        "ReservationType": said.get("ReservationType", "default"),
    }
    reservations(account, region)[identifier] = row
    return row


def add_plan(account: str, region: str, name: str, said: Row) -> Row:
    """Keep a training plan.

    Args:
        account: Its account.
        region: Its Region.
        name: Its name.
        said: Type, count and zone; status and targets where they are not the usual.
    """
    count = int(said["InstanceCount"])
    part = {
        "ReservedCapacityArn": f"arn:aws:sagemaker:{region}:{account}:reserved-capacity/{name}",
        "InstanceType": said["InstanceType"],
        "TotalInstanceCount": count,
        "AvailabilityZone": said["AvailabilityZone"],
        "Status": said.get("Status", "Active"),
    }
    row = {
        "TrainingPlanArn": f"arn:aws:sagemaker:{region}:{account}:training-plan/{name}",
        "TrainingPlanName": name,
        "Status": said.get("Status", "Active"),
        "TotalInstanceCount": count,
        "AvailableInstanceCount": int(said.get("AvailableInstanceCount", count)),
        "TargetResources": said.get("TargetResources", "hyperpod-cluster").split("+"),
        "ReservedCapacitySummaries": [part],
    }
    _PLANS.of(account, region)[name] = row
    return row


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def create_capacity_reservation(request: Request) -> Row:
    """Reserve capacity; there is always some."""
    known = reservations(request.account, request.region)
    identifier = f"cr-{sha256(str(len(known)).encode()).hexdigest()[:17]}"
    return {"CapacityReservation": add_reservation(request.account, request.region, identifier, {**request.parameters})}


def describe_capacity_reservations(request: Request) -> Row:
    """Return reservations."""
    known, wanted = reservations(request.account, request.region), request.get("CapacityReservationIds", [])
    for identifier in wanted:
        if identifier not in known:
            message = f"The capacity reservation '{identifier}' does not exist"
            raise ApiError("InvalidCapacityReservationId.NotFound", message)
    return {"CapacityReservations": [row for name, row in known.items() if not wanted or name in wanted]}


def _types(region: str) -> list[str]:
    """Return the types that training plans may have."""
    return list(input_shape("sagemaker", region, "search_training_plan_offerings").members["InstanceType"].enum)


def _zone(region: str) -> str:
    return str(client("ec2", region).describe_availability_zones()["AvailabilityZones"][0]["ZoneName"])


def describe_capacity_block_offerings(request: Request) -> Row:
    """Return an offer of a block, if there is one."""
    count, hours = request.get("InstanceCount", 1), request["CapacityDurationHours"]
    if f"ml.{request.get('InstanceType')}" not in _types(request.region) or count > _MOST:
        return {"CapacityBlockOfferings": []}
    offer = {
        "CapacityBlockOfferingId": "cbo-0123456789abcdef0",
        "InstanceType": request["InstanceType"],
        "AvailabilityZone": _zone(request.region),
        "InstanceCount": count,
        "StartDate": _START,
        "EndDate": _START + timedelta(hours=hours),
        "CapacityBlockDurationHours": hours,
        "UpfrontFee": f"{count * hours * _DOLLARS_PER_HOUR}.00",
        "CurrencyCode": "USD",
    }
    return {"CapacityBlockOfferings": [offer]}


def search_training_plan_offerings(request: Request) -> Row:
    """Return an offer of a plan, if there is one."""
    count, hours = request.get("InstanceCount", 1), request["DurationHours"]
    if request.get("InstanceType") not in _types(request.region) or count > _MOST:
        return {"TrainingPlanOfferings": []}
    part = {
        "InstanceType": request["InstanceType"],
        "InstanceCount": count,
        "AvailabilityZone": _zone(request.region),
        "StartTime": _START,
        "EndTime": _START + timedelta(hours=hours),
    }
    offer = {
        "TrainingPlanOfferingId": "tpo-0123456789abcdef0",
        "TargetResources": request["TargetResources"],
        "DurationHours": hours,
        "UpfrontFee": f"{count * hours * _DOLLARS_PER_HOUR}.00",
        "CurrencyCode": "USD",
        "ReservedCapacityOfferings": [part],
    }
    return {"TrainingPlanOfferings": [offer]}


def describe_training_plan(request: Request) -> Row:
    """Return a training plan."""
    plans = _PLANS.of(request.account, request.region)
    if request["TrainingPlanName"] not in plans:
        raise ApiError("ResourceNotFound", f"Training plan {request['TrainingPlanName']} does not exist.")
    return plans[request["TrainingPlanName"]]


def list_training_plans(request: Request) -> Row:
    """Return every training plan."""
    return {"TrainingPlanSummaries": list(_PLANS.of(request.account, request.region).values())}


def extend() -> None:
    """Give moto's EC2 and SageMaker what they lack."""
    of_ec2 = (create_capacity_reservation, describe_capacity_block_offerings, describe_capacity_reservations)
    of_sagemaker = (describe_training_plan, list_training_plans, search_training_plan_offerings)
    install(EC2Response, {operation.__name__: operation for operation in of_ec2})
    install(SageMakerResponse, {operation.__name__: operation for operation in of_sagemaker})
