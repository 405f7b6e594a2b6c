"""What nodes asked for beyond their subnet, as the rehearsal's services noted it, held to the table of fetches."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from cdk_trainyard.reach import Region, addresses_at

_INTERNAL = re.compile(
    r".+\.(internal|local|localdomain|arpa|pcluster|(fsx|efs|rds)(\.[a-z0-9-]+)?\.amazonaws\.com(\.cn)?)"
)
"""Names in the VPC: nodes, file systems, databases. Nobody leaves it for them."""
_BUCKET = re.compile(r"(?P<bucket>.+)\.s3[.-].*amazonaws\.com(\.cn)?")
_ARCHIVE = re.compile(
    r"^\s*(?:deb|deb-src)\s+(?:\[[^]]*\]\s+)?https?://([^/\s:]+)|^URIs:\s*https?://([^/\s:]+)", re.MULTILINE
)


@dataclass(frozen=True, kw_only=True, order=True)
class Asked:
    """A host that a node asked, and for what.

    Attributes:
        node: The node.
        host: The host.
        bucket: The bucket, of S3. Empty: none.
        path: The path. Empty: only the name was looked up, and there is no such name here.
        signed: Whether the request was signed.
    """

    node: str
    host: str
    bucket: str = ""
    path: str = ""
    signed: bool = False

    @property
    def bucket_in_path(self) -> str | None:
        """The bucket, where the path says it and not the host."""
        return None if not self.bucket or self.host.startswith(f"{self.bucket}.") else self.bucket

    @classmethod
    def read(cls, lines: Iterable[str], nodes: Mapping[str, str]) -> list["Asked"]:
        """Return what was noted, each once, without names of the cluster's own network.

        Args:
            lines: Lines of JSON, as the name service and the egress proxy write them.
            nodes: Node by address.
        """
        found = set()
        for line in lines:
            row = json.loads(line)
            host = str(row["host"])
            if "." not in host or _INTERNAL.fullmatch(host):
                continue
            path = str(row.get("path", ""))
            own = _BUCKET.fullmatch(host)
            bucket = own["bucket"] if own else path.strip("/").partition("/")[0] if host.startswith("s3.") else ""
            found.add(
                cls(
                    node=nodes.get(str(row["address"]), str(row["address"])),
                    host=host,
                    bucket=bucket,
                    path=path,
                    signed=bool(row.get("signed", False)),
                )
            )
        return sorted(found)


def unknown_hosts(asked: Iterable[Asked], region: str, stand_ins: Iterable[str] = ()) -> dict[str, list[str]]:
    """Return the hosts that the table of fetches lacks, and the nodes that asked for them.

    Args:
        asked: What was asked.
        region: The Region that the rehearsal is in.
        stand_ins: Hosts of the node image's own package archive, which stands for that of the nodes' system.
    """
    found: dict[str, list[str]] = {}
    known, there = set(stand_ins), Region(name=region)
    for one in asked:
        if one.host not in known and not addresses_at(one.host, there, one.bucket_in_path, signed=one.signed):
            nodes = found.setdefault(one.host, [])
            if one.node not in nodes:
                nodes.append(one.node)
    return found


def archive_hosts(image: Path) -> set[str]:
    """Return the hosts that the apt of a node image asks for packages.

    Args:
        image: The node image.
    """
    folder = image / "etc" / "apt"
    files = [folder / "sources.list", *folder.glob("sources.list.d/*.list"), *folder.glob("sources.list.d/*.sources")]
    found = (_ARCHIVE.findall(file.read_text(errors="replace")) for file in files if file.is_file())
    return {host for pairs in found for pair in pairs for host in pair if host}


def as_json(asked: Iterable[Asked]) -> str:
    """Return what was asked as JSON, one object for each host, path and node."""
    return json.dumps([asdict(one) for one in asked], indent=2) + "\n"
