"""What a deployment file says of containers, Neuron's Python, metrics, buckets, access by job and tools."""

from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk import App, Stack
from pydantic import ValidationError

from cdk_trainyard.deployment.hyperpod.node_extras import (
    ContainersSection,
    ExportersSection,
    NeuronEnvironmentSection,
    PamSlurmAdoptSection,
)
from cdk_trainyard.deployment.hyperpod.node_setup import NodeSetupSection, node_setup
from cdk_trainyard.lifecycle import (
    Containers,
    Exporters,
    NeuronEnvironment,
    NodeSetup,
    NodeTool,
    PamSlurmAdopt,
    S3Mount,
    ToolFile,
)
from cdk_trainyard.storage import TrainingBuckets

EXTRAS = ("containers", "neuron_environment", "exporters", "s3_mounts", "pam_slurm_adopt", "tools")
SUM = "0" * 64


@pytest.fixture(scope="module")
def buckets() -> TrainingBuckets:
    return TrainingBuckets(Stack(App(), "Stack"), "Buckets")


def said(buckets: TrainingBuckets, **section: Any) -> Mapping[str, object]:
    setup = node_setup(NodeSetupSection.model_validate(section, strict=False), buckets)
    return {name: getattr(setup, name) for name in EXTRAS}


def test_a_file_that_says_nothing_asks_for_nothing(buckets: TrainingBuckets) -> None:
    assert not any(said(buckets).values())
    assert not any(getattr(NodeSetup(), name) for name in EXTRAS)


@pytest.mark.parametrize(
    ("section", "option"),
    [
        (ContainersSection(), Containers()),
        (NeuronEnvironmentSection(), NeuronEnvironment()),
        (ExportersSection(), Exporters()),
        (PamSlurmAdoptSection(), PamSlurmAdopt()),
    ],
)
def test_defaults_are_those_of_the_constructs(section: Any, option: Any) -> None:
    names = type(section).model_fields
    assert {name: getattr(section, name) for name in names} == {name: getattr(option, name) for name in names}
    assert set(names) == set(type(option).__dataclass_fields__)


def test_each_key_becomes_the_option_of_its_name(buckets: TrainingBuckets) -> None:
    told = said(
        buckets,
        containers={"docker": False},
        neuron_environment={"path": "/fsx/neuron", "packages": ["a==1"], "index": "https://mirror.example"},
        exporters={"gpu": True, "gpu_port": 9500},
        s3_mounts=[{"bucket": "models", "path": "/models", "prefix": "v1/", "read_only": False}],
        pam_slurm_adopt={"admin_groups": ["ops"], "in_image": True},
        tools=[
            {"tool": "pyxis", "sha256": SUM, "key": "pyxis.tar.gz"},
            {"tool": "enroot", "sha256": SUM, "url": "https://mirror.example/enroot.deb", "architecture": "arm64"},
        ],
    )
    assert told == {
        "containers": Containers(docker=False),
        "neuron_environment": NeuronEnvironment(path="/fsx/neuron", packages=("a==1",), index="https://mirror.example"),
        "exporters": Exporters(gpu=True, gpu_port=9500),
        "s3_mounts": [S3Mount(bucket=buckets.models, path="/models", prefix="v1/", read_only=False)],
        "pam_slurm_adopt": PamSlurmAdopt(admin_groups=("ops",), in_image=True),
        "tools": [
            ToolFile(tool=NodeTool.PYXIS, sha256=SUM, bucket=buckets.scripts, key="pyxis.tar.gz"),
            ToolFile(tool=NodeTool.ENROOT, sha256=SUM, url="https://mirror.example/enroot.deb", architecture="arm64"),
        ],
    }


@pytest.mark.parametrize(
    ("section", "place"),
    [
        ({"containers": {"podman": True}}, ("containers", "podman")),
        ({"s3_mounts": [{"bucket": "scripts", "path": "/data"}]}, ("s3_mounts", 0, "bucket")),
        ({"s3_mounts": [{"bucket": "datasets", "path": "data"}]}, ("s3_mounts", 0, "path")),
        ({"s3_mounts": [{"bucket": "datasets"}]}, ("s3_mounts", 0, "path")),
        ({"tools": [{"tool": "podman", "sha256": SUM}]}, ("tools", 0, "tool")),
        ({"tools": [{"tool": "pyxis", "sha256": SUM, "architecture": "amd64"}]}, ("tools", 0, "architecture")),
    ],
)
def test_fails_for_what_is_not_a_key_or_not_a_choice(section: dict[str, Any], place: tuple[Any, ...]) -> None:
    with pytest.raises(ValidationError) as raised:
        NodeSetupSection.model_validate(section, strict=False)
    assert [error["loc"] for error in raised.value.errors()] == [place]
