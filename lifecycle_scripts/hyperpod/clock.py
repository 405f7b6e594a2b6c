#!/usr/bin/env python3
"""Say how far this node's clock is from the Amazon Time Sync Service, by asking it (SNTP, RFC 4330).

Written for the Python of the nodes (3.8 and newer), without any dependency. Exit codes: 0 when the clock is right, 1
when it is not, 75 when nobody answers.
"""

from __future__ import annotations

import argparse
import socket
import struct
import sys
import time

SERVER = "169.254.169.123:123"  # on every instance, whatever its subnet (EC2 user guide, "Amazon Time Sync Service")
CLOSE = 30.0  # seconds; munge and AWS refuse from 300 on
_EX_TEMPFAIL = 75
_EPOCH = 2208988800  # seconds from 1900, where NTP begins to count, to 1970
_QUESTION = bytes([0x23]) + bytes(47)  # version 4, from a client
_TRANSMIT = 40  # where the server's time stands in its answer
_TRIES = 3


def ask(server: str, seconds: float = 1.0) -> float | None:
    """Return how many seconds the server is ahead of this node; nothing when it does not answer."""
    host, _, port = server.rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.settimeout(seconds)
        try:
            link.connect((host, int(port)))
            before = time.time()
            link.send(_QUESTION)
            answer = link.recv(512)
        except OSError:
            return None
        after = time.time()
    if len(answer) < len(_QUESTION):
        return None
    whole, fraction = struct.unpack_from("!II", answer, _TRANSMIT)
    return float(whole - _EPOCH + fraction / 2**32 - (before + after) / 2)


def main(arguments: list[str]) -> int:
    """Say how far the clock is off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", default=SERVER, help=f"address:port; default {SERVER}")
    chosen = parser.parse_args(arguments)
    for _ in range(_TRIES):
        ahead = ask(chosen.server)
        if ahead is not None:
            break
    else:
        sys.stdout.write(f"the time service {chosen.server} does not answer\n")
        return _EX_TEMPFAIL
    if abs(ahead) <= CLOSE:
        sys.stdout.write(f"the clock is right to {abs(ahead):.1f} s\n")
        return 0
    sys.stdout.write(f"the clock is {abs(ahead):.0f} s {'slow' if ahead > 0 else 'fast'} ({chosen.server})\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
