"""``settings.json``, as the scripts read it."""

import pytest

from cdk_trainyard.instances import InstanceType
from cdk_trainyard.lifecycle import (
    DatabaseAccounting,
    GroupRole,
    LogRotation,
    NodeGroup,
    NodeLustre,
    NodeOpenZfs,
    NodeSettings,
    NodeSetup,
    SlurmTopology,
)
from cdk_trainyard.lifecycle.render import render_setting, render_setup

BY_DEFAULT = {"ssh": True, "hostfile": True, "job_hooks": True, "motd": True, "logs": {"days": 14, "size_mb": 200}}


def test_the_smallest_settings_leave_out_what_there_is_not(settings: NodeSettings) -> None:
    assert settings.render(topology=SlurmTopology.API_DRIVEN, users_file=None) == {
        "version": 1,
        "topology": "api",
        **BY_DEFAULT,
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
        lustre=NodeLustre(dns_name="fs-1", mount_name="abcdefgh", mount_path="/data", efa=True),
        openzfs=NodeOpenZfs(dns_name="fs-2"),
        home="/home/somebody",
        setup=NodeSetup(
            ssh=False,
            hostfile=False,
            job_hooks=False,
            motd=False,
            logs=LogRotation(days=3, size_mb=10),
            accounting=DatabaseAccounting(
                endpoint="db",
                port=3307,
                secret_arn="arn:secret",  # noqa: S106
                schema="acct",
                authority="ca.pem",
            ),
        ),
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
        "lustre": {"dns_name": "fs-1", "mount_name": "abcdefgh", "mount_path": "/data", "efa": True},
        "openzfs": {"dns_name": "fs-2", "mount_path": "/home"},
        "home": "/home/somebody",
        "logs": {"days": 3, "size_mb": 10},
        "accounting": {
            "endpoint": "db",
            "port": 3307,
            "secret": "arn:secret",
            "schema": "acct",
            "authority": "accounting-ca.pem",
        },
        "users_file": "shared_users.txt",
    }


@pytest.mark.parametrize(("mount_path", "home"), [("/fsx", "/fsx/ubuntu"), ("/data", "/data/ubuntu")])
def test_the_home_is_on_the_shared_file_system_by_default(mount_path: str, home: str) -> None:
    lustre = NodeLustre(dns_name="fs-1", mount_name="x", mount_path=mount_path)
    rendered = NodeSettings(groups=[], lustre=lustre).render(topology=SlurmTopology.API_DRIVEN, users_file=None)
    assert rendered["home"] == home


def test_homes_are_on_openzfs_where_there_is_one() -> None:
    lustre, openzfs = NodeLustre(dns_name="fs-1", mount_name="x"), NodeOpenZfs(dns_name="fs-2")
    for settings in (NodeSettings(groups=[], lustre=lustre, openzfs=openzfs), NodeSettings(groups=[], openzfs=openzfs)):
        assert settings.render(topology=SlurmTopology.API_DRIVEN, users_file=None)["home"] == "/home/ubuntu"


def test_local_accounting_is_asked_for_by_its_schema() -> None:
    assert render_setup(NodeSetup(local_accounting=True))["accounting"] == {"schema": "slurm_acct_db"}


def test_a_setting_that_json_does_not_know_is_a_mistake_of_the_library() -> None:
    with pytest.raises(TypeError, match="a setting must be JSON or a dataclass, got set"):
        render_setting({"x": {1}})
