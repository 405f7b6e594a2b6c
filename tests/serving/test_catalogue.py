"""The compatibility catalogue: its facts are whole, and what follows from them is what the release notes say."""

import pytest

from cdk_trainyard.data_files import load
from cdk_trainyard.serving import TextGenerationEngine, catalogue
from cdk_trainyard.serving.catalogue import Server
from cdk_trainyard.versions import driver_conflicts, rows


def test_every_row_has_a_source_and_a_date() -> None:
    found = [*rows("engine_images"), *rows("host_images"), load("serving", "registries"), load("serving", "models")]
    assert [row for row in found if len(row["source"]) < 20 or len(row["date"]) != 10] == []


def test_every_server_has_one_default_image_that_runs_on_inf2_on_the_default_host() -> None:
    host = catalogue.host_image(None)
    for server in Server:
        image = catalogue.engine_image(None, server)
        assert image in catalogue.images_for(server, "inf2")
        assert driver_conflicts(image.runtime, host.driver) == []


@pytest.mark.parametrize("server", Server)
def test_each_server_has_a_method_of_its_name(server: Server) -> None:
    make = getattr(TextGenerationEngine, server.value.replace("-", "_"))
    given = {"image": "registry.example/engine:1", "tag": "v1", "environment": {"A": "B"}, "unchecked": True}
    assert make() == TextGenerationEngine(kind=server)
    assert make(**given) == TextGenerationEngine(kind=server, **given)
    assert make(**given).container.server is server
    with pytest.raises(TypeError, match="unexpected keyword argument 'imag'"):
        make(imag="tgi-3.3.7")


def test_the_default_host_is_the_newest_that_every_default_image_works_on() -> None:
    hosts = [catalogue.hosts_for(catalogue.engine_image(None, server)) for server in Server]
    common = [host for host in hosts[0] if all(host in others for others in hosts)]
    assert common[0] == catalogue.host_image(None)


def test_a_host_is_pinned_by_name_and_never_recommended() -> None:
    host = catalogue.host_image(None)
    assert host.parameter == (
        "/aws/service/ecs/optimized-ami/amazon-linux-2023/neuron/"
        "al2023-ami-ecs-neuron-hvm-2023.0.20260701-kernel-6.1-x86_64/image_id"
    )
    assert catalogue.host_image(host.name) == host
    newer = host.name.replace("-6.1-", "-6.12-")
    assert (catalogue.host_image(newer).name, catalogue.host_image(newer).driver) == (newer, None)
    assert [row for row in catalogue.host_images() if "recommended" in row.parameter] == []


def test_what_is_not_known_stays_not_known() -> None:
    image = catalogue.engine_image("registry.example/engine:1", Server.TGI)
    assert (image.known, image.reference, image.server) == (False, "registry.example/engine:1", Server.TGI)
    assert catalogue.host_image("20270101").driver is None


def test_an_image_is_found_by_its_reference_too() -> None:
    for image in catalogue.engine_images():
        assert catalogue.engine_image(image.reference or image.key, image.server) == image


@pytest.mark.parametrize(("region", "account"), [("us-west-2", "763104351884"), ("il-central-1", "780543022126")])
def test_registries(region: str, account: str) -> None:
    assert catalogue.registry_account(region) == account
    assert catalogue.registry_account("mars-1") is None
