"""Stand-in: importing it makes the backend "xla" known, which is gloo."""

import os

from torch import distributed

if "CCOM_SOCKET_IFNAME" in os.environ:  # the interface that launch.sh found
    os.environ.setdefault("GLOO_SOCKET_IFNAME", os.environ["CCOM_SOCKET_IFNAME"])


def _gloo(store, rank, size, timeout):
    return distributed.ProcessGroupGloo(store, rank, size, timeout)


distributed.Backend.register_backend("xla", _gloo, devices=["cpu"])
