"""The nodes of a shipped HyperPod deployment, rehearsed, for commands that open sessions on them."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cdk_trainyard.local import LocalAws
from cdk_trainyard.rehearsal import HyperPodMachines, session_plugin
from cdk_trainyard.rehearsal.control import Control
from cdk_trainyard.rehearsal.control_plane import ControlPlane
from cdk_trainyard.rehearsal.hyperpod.clusters import HyperPodClusters
from tests.deployed import deploy
from tests.rehearsal.clusters import wait_until_idle

HYPERPOD = "hyperpod-cpu-ddp"


@contextmanager
def plugin_on_path(folder: Path) -> Iterator[Path]:
    """Put the stand-in of the session-manager-plugin first on the path, and what rehearsals listen on into a folder."""
    with pytest.MonkeyPatch.context() as patch:
        program = session_plugin.put(folder)
        patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        yield program


@contextmanager
def rehearsed(aws: LocalAws, image: Path, folder: Path) -> Iterator[HyperPodMachines]:
    """Boot the nodes of the cluster that the local AWS has, and let sessions reach them by their instance ids."""
    deploy(aws, HYPERPOD)
    clusters = HyperPodClusters(ControlPlane("us-east-1"))
    cluster = clusters.cluster()
    with (
        plugin_on_path(folder),
        HyperPodMachines(cluster, image=image, bundles=clusters.bundles(cluster)) as machines,
        Control({"enter": lambda name: json.dumps(machines.machine(name).enter())}),
    ):
        machines.boot()
        assert [run.code for run in machines.provision()] == [0, 0, 0]
        wait_until_idle(machines)
        yield machines
