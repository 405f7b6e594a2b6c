"""What is said of a choice whose downloads do not arrive."""

from typing import Any

import pytest

from cdk_trainyard.reach import (
    Gateway,
    Interface,
    Place,
    Region,
    Route,
    Wanted,
    addresses,
    given_address,
    unreached_problems,
    wanted,
)
from tests.reach.parts import EAST, US

CLOSED = Place(name="nodes", gateways={"s3": Gateway()})
ENDPOINTS = ["autoscaling", "ec2", "logs", "ssm"]


def test_a_choice_is_named_with_its_addresses_and_remedies() -> None:
    choices = wanted("hyperpod", "neuron_environment", CLOSED, remedy="give 'index' a mirror")
    (problem,) = unreached_problems(choices, US, ENDPOINTS)
    assert problem.text == (
        "fetches Neuron's Python packages, Python packages from pip.repos.neuron.amazonaws.com, "
        "the index that pip is configured for: the subnet has no route to the internet, and no endpoint; "
        "give 'index' a mirror, or give the network a NAT gateway"
    )


def test_services_are_reached_by_endpoints_that_can_be_given() -> None:
    (problem,) = unreached_problems(wanted("fleet", "", CLOSED), US, ENDPOINTS)
    assert problem.text.startswith("asks CloudWatch Logs, Amazon EC2, Amazon EC2 Auto Scaling")
    assert problem.text.endswith(
        "add autoscaling, ec2, logs, ssm to 'interface_endpoints', or give the network a NAT gateway"
    )
    opened = Place(name="nodes", gateways={"s3": Gateway()}, interfaces=dict.fromkeys(ENDPOINTS, Interface()))
    assert list(unreached_problems(wanted("fleet", "", opened), US, ENDPOINTS)) == []


def test_login_nodes_tell_auto_scaling_that_they_are_up() -> None:
    login = Place(name="login nodes", at="login", gateways={"s3": Gateway()})
    (problem,) = unreached_problems(wanted("parallelcluster", "login_pools", login), US, ["autoscaling"])
    assert problem.text.startswith("asks Amazon EC2 Auto Scaling, Elastic Load Balancing")


def test_nothing_is_said_where_there_is_nat() -> None:
    place = Place(name="nodes", route=Route.NAT, gateways={"s3": Gateway()})
    for option in ("exporters", "neuron_environment", "s3_mounts"):
        assert list(unreached_problems(wanted("hyperpod", option, place), US)) == []


def test_what_an_image_may_lack_is_no_certain_fetch() -> None:
    assert list(wanted("hyperpod", "containers", CLOSED)) == []


def test_only_the_package_manager_of_the_image_fetches() -> None:
    def hosts(system: str) -> set[str]:
        return {each.address.name for each in wanted("parallelcluster", "neuron.sh", CLOSED, system=system)}

    assert hosts("apt") == {"neuron-apt", "ubuntu"}
    assert hosts("dnf") == {"neuron-yum", "amazon-linux-2023"}
    assert hosts("") == set()


def test_a_bucket_that_the_policy_refuses_can_be_named() -> None:
    policy: dict[str, Any] = {"Version": "2012-10-17", "Statement": []}
    place = Place(name="nodes", route=Route.NAT, gateways={"s3": Gateway(policy=policy)})
    address = given_address("https://open-data.s3.us-west-2.amazonaws.com/a/b", US)
    assert address is not None
    (problem,) = unreached_problems([Wanted(address=address, place=place)], US)
    assert problem.text == (
        "fetches a file of the bucket open-data from open-data.s3.us-west-2.amazonaws.com: the endpoint's policy "
        "refuses it; name open-data in 'public_buckets'"
    )


def test_a_signed_link_is_judged_as_who_may_have_signed_it() -> None:
    principal = {"StringEquals": {"aws:PrincipalAccount": US.account}}
    allowed = {"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*", "Condition": principal}
    policy: dict[str, Any] = {"Version": "2012-10-17", "Statement": [allowed]}
    place = Place(name="nodes", route=Route.NONE, gateways={"s3": Gateway(policy=policy)})
    link = "https://mine.s3.us-west-2.amazonaws.com/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0a"
    for url, refused in ((link, 0), (link.partition("?")[0], 1)):
        address = given_address(url, US)
        assert address is not None
        assert len(list(unreached_problems([Wanted(address=address, place=place)], US))) == refused


@pytest.mark.parametrize(
    ("url", "bucket", "key", "region"),
    [
        ("https://s3.amazonaws.com/tools/a/b.tar.gz", "tools", "a/b.tar.gz", "us-east-1"),
        ("https://tools.s3.amazonaws.com/a/b.tar.gz", "tools", "a/b.tar.gz", "us-east-1"),
        ("https://tools.s3.eu-west-1.amazonaws.com/a", "tools", "a", "eu-west-1"),
        ("https://s3-eu-west-1.amazonaws.com/tools/a", "tools", "a", "eu-west-1"),
        ("https://tools.s3.dualstack.eu-west-1.amazonaws.com/a", "tools", "a", "eu-west-1"),
        ("https://my.tools.s3.cn-north-1.amazonaws.com.cn/a", "my.tools", "a", "cn-north-1"),
    ],
)
def test_an_address_of_s3_is_read(url: str, bucket: str, key: str, region: str) -> None:
    address = given_address(url, US)
    assert address is not None
    (target,) = address.targets
    assert (target.bucket, target.key, target.bucket_region) == (bucket, key, region)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/prometheus/x.tar.gz", "github-release"),
        ("https://raw.githubusercontent.com/a/b/main/x.sh", "github-files"),
        ("public.ecr.aws/nvidia/dcgm-exporter@sha256:0", "ecr-public"),
        ("123456789012.dkr.ecr.us-west-2.amazonaws.com/x@sha256:0", "ecr"),
        ("https://mirror.corp.example/simple", None),
        ("nvcr.io/nvidia/k8s/dcgm-exporter@sha256:0", "nvidia-registry"),
        ("nvidia/dcgm-exporter@sha256:0", "docker-hub"),
        ("dcgm-exporter@sha256:0", "docker-hub"),
        ("registry:5000/dcgm-exporter@sha256:0", None),
        ("localhost/dcgm-exporter@sha256:0", None),
        ("https://x.example:99999/y.sh", None),
        ("https://x.example:abc/y.sh", None),
        ("https://[::1/y.sh", None),
        ("https://[zz]/y.sh", None),
        ("https://\u2100.example/y.sh", None),
        ("nvcr.io:99999/x@sha256:0", None),
    ],
)
def test_a_server_that_only_the_user_knows_is_not_judged(url: str, name: str | None) -> None:
    found = given_address(url, US)
    assert (found and found.name) == name


def test_the_pinned_mountpoint_arrives_in_its_own_region_without_nat() -> None:
    address = addresses()["mountpoint-release"]
    choice = Wanted(address=address, place=CLOSED)
    assert list(unreached_problems([choice], EAST)) == []
    assert len(list(unreached_problems([choice], Region(name="eu-west-1")))) == 1
