"""``settings.json``, as the scripts read it."""

import pytest

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.lifecycle import GroupRole, NodeGroup, NodeLustre, NodeSettings, SlurmTopology


def test_the_smallest_settings_leave_out_what_there_is_not(settings: NodeSettings) -> None:
    assert settings.render(topology=SlurmTopology.API_DRIVEN, users_file=None) == {
        "version": 1,
        "topology": "api",
        "groups": {
            "controller": {
                "role": "controller",
                "instance_types": {"ml.m5.large": {"efa_interfaces": 0, "neuron_devices": 0, "gpus": 0}},
            },
            "worker": {
                "role": "compute",
                "instance_types": {"ml.trn1.32xlarge": {"efa_interfaces": 8, "neuron_devices": 16, "gpus": 0}},
            },
        },
    }


def test_everything_set() -> None:
    types = ["p5.48xlarge", InstanceType.of("trn2.48xlarge")]
    settings = NodeSettings(
        groups=[NodeGroup(name="login", role=GroupRole.LOGIN, instance_types=types)],
        cluster_name="llama",
        lustre=NodeLustre(dns_name="fs-1", mount_name="abcdefgh", mount_path="/data"),
        home="/home/ubuntu",
    )
    rendered = settings.render(topology=SlurmTopology.LEGACY, users_file="shared_users.txt")
    assert rendered == {
        "version": 1,
        "cluster_name": "llama",
        "topology": "legacy",
        "groups": {
            "login": {
                "role": "login",
                "instance_types": {
                    "ml.p5.48xlarge": {"efa_interfaces": 32, "neuron_devices": 0, "gpus": 8},
                    "ml.trn2.48xlarge": {"efa_interfaces": 16, "neuron_devices": 16, "gpus": 0},
                },
            }
        },
        "lustre": {"dns_name": "fs-1", "mount_name": "abcdefgh", "mount_path": "/data"},
        "home": "/home/ubuntu",
        "users_file": "shared_users.txt",
    }


@pytest.mark.parametrize(("mount_path", "home"), [("/fsx", "/fsx/ubuntu"), ("/data", "/data/ubuntu")])
def test_the_home_is_on_the_shared_file_system_by_default(mount_path: str, home: str) -> None:
    lustre = NodeLustre(dns_name="fs-1", mount_name="x", mount_path=mount_path)
    rendered = NodeSettings(groups=[], lustre=lustre).render(topology=SlurmTopology.API_DRIVEN, users_file=None)
    assert rendered["home"] == home
