"""Whom root of a client is on a file system: pure functions, silent about Tokens."""

import re
from collections.abc import Iterator
from ipaddress import IPv4Network

from cdk_trainyard.options.addresses import OCTET
from cdk_trainyard.problems import Problem, option, shown
from cdk_trainyard.storage.spec import LustreSpec, RootSquash
from cdk_trainyard.tokens import unresolved

_PART = rf"({OCTET}|\[{OCTET}-{OCTET}\])"
_NID = re.compile(rf"(?=.{{11,43}}$){_PART}(\.{_PART}){{3}}@tcp")  # LustreNoSquashNid of botocore 1.44.5
_MAX_NIDS = 64


def root_squash_problems(spec: LustreSpec) -> Iterator[Problem]:
    """Check the ids that root becomes, and the clients that are exempt."""
    squash = spec.root_squash
    if squash is None or unresolved(squash):
        return
    ids = (squash.uid, squash.gid)
    if not unresolved(*ids) and 0 in ids and ids != (0, 0):
        name = "uid" if squash.uid == 0 else "gid"
        yield Problem(("root_squash", name), f"must be 1 or more, got {squash.text}; both are 0 to switch it off")
    if not unresolved(*ids) and ids == (0, 0) and squash.no_squash_nids:
        why = f"{option('uid')} and {option('gid')} 0 leave root as it is for every client"
        yield Problem(("root_squash", "no_squash_nids"), f"must be left out: {why}")
    if len(squash.no_squash_nids) > _MAX_NIDS:
        got = f"got {len(squash.no_squash_nids)}; use ranges, as '10.1.[2-10].[1-255]@tcp'"
        yield Problem(("root_squash", "no_squash_nids"), f"must be at most {_MAX_NIDS} clients, {got}")
    for index, nid in enumerate(squash.no_squash_nids):
        if not unresolved(nid) and not (_NID.fullmatch(nid) and _rises(nid)):
            text = f"must be a Lustre network id, as '10.1.0.6@tcp' or '10.1.0.[1-20]@tcp', got {shown(nid)}"
            yield Problem(("root_squash", "no_squash_nids", index), text)


def squash_warnings(squash: RootSquash | None, cidr: str | None) -> list[str]:
    """Say when root is squashed on every node: one that sets itself up writes to a new file system as root.

    Args:
        squash: Whom root is, judged.
        cidr: The block of the nodes' subnet. None: not known.
    """
    if squash is None or unresolved(squash, squash.uid, squash.gid, *squash.no_squash_nids):
        return []
    if (squash.uid, squash.gid) == (0, 0):
        return []
    why = "is squashed, and what sets nodes up writes to a new file system as root; exempt some in 'no_squash_nids'"
    if cidr is None or unresolved(cidr):
        text = f"root of every node {why}, as '10.1.0.[1-20]@tcp', or open the file system before"
        return [] if squash.no_squash_nids else [text]
    block = IPv4Network(cidr)
    wanted = list(zip(block[0].packed, block[-1].packed, strict=True))
    for nid in squash.no_squash_nids:
        said = re.findall(r"([0-9]+)-?([0-9]*)", nid.partition("@")[0])
        if all(
            int(low) <= last and first <= int(high or low)
            for (low, high), (first, last) in zip(said, wanted, strict=True)
        ):
            return []
    all_of_it = ".".join(str(first) if first == last else f"[{first}-{last}]" for first, last in wanted)
    return [f"root of every node in {cidr} {why}, as '{all_of_it}@tcp', or open the file system before"]


def _rises(nid: str) -> bool:
    return all(int(first) <= int(last) for first, last in re.findall(r"\[([0-9]+)-([0-9]+)\]", nid))
