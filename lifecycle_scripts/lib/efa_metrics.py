#!/usr/bin/env python3
"""Write the counters of EFA interfaces as metrics, for the textfile collector of node_exporter.

The kernel has them in files, so no further exporter is needed. Names are those of AWS's own exporter
(node_amazonefa_rx_bytes, ...), on which its dashboards stand. Run by a timer. The file is renamed into its place, so a
reader never sees half of it. Written for the Python of the nodes (3.8 and newer), without any dependency.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "node_amazonefa"
_PROVIDER = "efa"  # the driver's name: other devices below the same directory are not ours


def devices(system: Path) -> Iterator[Path]:
    """Yield the directory of every EFA device."""
    for device in sorted(system.glob("class/infiniband/*")):
        driver = device / "device" / "driver"
        if driver.exists() and driver.resolve().name == _PROVIDER:
            yield device


def counters(device: Path) -> Iterator[tuple[str, str, int]]:
    """Yield port, name and value of every counter; one that cannot be read is left out."""
    for path in sorted(device.glob("ports/*/hw_counters/*")):
        try:
            value = int(path.read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue
        yield path.parents[1].name, path.name, value


def collect(system: Path) -> str:
    """Return every counter of every device, family by family."""
    families: dict[str, list[str]] = {}
    ports = 0
    for device in devices(system):
        ports += sum(1 for _ in device.glob("ports/*"))
        for port, name, value in counters(device):
            family = f"{_PREFIX}_{name}"
            families.setdefault(family, []).append(f'{family}{{device="{device.name}",port="{port}"}} {value}')
    lines = [f"# TYPE {_PREFIX}_ports gauge", f"{_PREFIX}_ports {ports}"]
    for family, samples in sorted(families.items()):
        lines += [f"# TYPE {family} counter", *samples]
    return "\n".join(lines) + "\n"


def replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    fresh.chmod(0o644)
    fresh.replace(path)


def main(arguments: list[str]) -> int:
    """Write the file once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="a file whose name ends in .prom")
    parser.add_argument("--system", type=Path, default=Path("/sys"), help="the kernel's tree of devices")
    chosen = parser.parse_args(arguments)
    replace(chosen.output, collect(chosen.system))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
