"""Shortcuts through moto: what they answer is what moto answers, to the letter."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
import xmltodict
from hypothesis import given
from hypothesis import strategies as st
from moto.core.serialize import ResponseSerializer, XFormedAttributePicker, get_serializer_class, never_return
from moto.core.utils import get_service_model
from moto.ec2.models import EC2Backend
from moto.ec2.utils import random_vpc_id

from cdk_trainyard.local import LocalAws, shortcuts
from cdk_trainyard.local.services import ec2

_NAMES = st.sampled_from(["Vpc", "item", "member", "requestId", "@xmlns", "@xsi:type"])
_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])) | st.sampled_from(
    ["a<b", "a&b", '"', ""]
)
_LEAVES = st.one_of(_TEXTS, st.integers(), st.booleans(), st.floats(), st.none(), st.binary())
_BODIES = st.dictionaries(
    st.just("Answer"),
    st.recursive(
        st.dictionaries(_NAMES, _LEAVES),
        lambda inner: st.dictionaries(
            _NAMES.filter(lambda name: name[0] != "@"), inner | st.lists(inner | _LEAVES, max_size=3)
        ),
        max_leaves=8,
    ),
    min_size=1,
)


class Vpc:
    """A thing of moto's, with each way that a member may be named."""

    class Meta:
        serialization_aliases = {"CidrBlock": "cidr"}  # noqa: RUF012  moto's own form

    cidr = "10.0.0.0/16"
    id = "vpc-1"
    state = "available"
    is_default = False
    tags = [SimpleNamespace(key="Name", Value="a")]  # noqa: RUF012  a member, not a default
    ipv6_cidr_block_association_set: list[Any] = []  # noqa: RUF012  as above


@pytest.mark.parametrize(
    ("service", "operation", "answer"),
    [
        (
            "ec2",
            "DescribeVpcs",
            {"Vpcs": [Vpc(), {"VpcId": "vpc-2", "State": None, "tags": [{"Key": "x", "Value": ""}]}]},
        ),
        ("iam", "GetRole", {"Role": SimpleNamespace(arn="arn", name="a", create_date=datetime.now(UTC), path="/")}),
        ("sagemaker", "ListClusters", {"ClusterSummaries": [{"ClusterName": "a", "unknown": 1}], "next_token": "1"}),
        ("eks", "DescribeCluster", {"cluster": SimpleNamespace(name="a", arn="b", kubernetes_version="1")}),
        ("s3", "ListBuckets", {"Buckets": [{"Name": "a&b"}], "Owner": {"ID": "1"}}),
    ],
)
def test_an_answer_is_moto_s(
    monkeypatch: pytest.MonkeyPatch, aws: LocalAws, service: str, operation: str, answer: dict[str, Any]
) -> None:
    del aws
    model = get_service_model(service)
    transformers: dict[str, Callable[[Any], Any]] = {"Vpcs.Vpc.State": never_return, "Name": repr}

    def written() -> Any:
        made = get_serializer_class(service, model.protocol)
        picker = XFormedAttributePicker(response_transformers=transformers)
        return made(model.operation_model(operation), value_picker=picker).serialize(answer)

    assert ResponseSerializer.get_value is shortcuts._get_value
    quick = [written(), written()]
    monkeypatch.setattr(ResponseSerializer, "get_value", shortcuts._slowly)
    monkeypatch.setattr("moto.core.serialize.xmltodict", xmltodict)
    assert quick == [written()] * 2


@given(body=_BODIES, full=st.booleans())
def test_xml_is_xmltodict_s(body: dict[str, Any], full: bool) -> None:
    assert shortcuts.xml(body, full_document=full) == xmltodict.unparse(
        body, full_document=full, short_empty_elements=True
    )


def test_an_id_has_as_many_letters(aws: LocalAws) -> None:
    del aws
    assert all(re.fullmatch("vpc-[0-9a-f]{17}", random_vpc_id()) for _ in range(100))


@pytest.mark.usefixtures("aws")
def test_images_that_are_read_are_those_that_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ec2, "_images", {})
    backends = made, read = [EC2Backend("us-east-2", "123456789012") for _ in range(2)]
    assert [*ec2._images] == ["us-east-2"]
    for backend in backends:
        assert {image.ec2_backend for image in backend.amis.values()} == {backend}
        assert {image.ebs_snapshot for image in backend.amis.values()} == {*backend.snapshots.values()}
        assert {snapshot.ec2_backend for snapshot in backend.snapshots.values()} == {backend}
    own = ("ec2_backend", "ebs_snapshot")
    said = [[{**vars(each), **dict.fromkeys(own)} for each in backend.amis.values()] for backend in backends]
    assert said[0] == said[1]
    assert made.snapshots.keys() == read.snapshots.keys()
    assert len(made.amis) > 1000
