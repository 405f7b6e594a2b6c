"""Good and bad clusters, each judged by our rules and by ParallelCluster: the two must agree.

A row is a cluster and what both should say of it. Where our rules refuse what ParallelCluster takes, the row says why;
where ParallelCluster refuses, ours must too, or a user learns it twenty minutes into a deployment.
"""

from dataclasses import dataclass

from tools.contract.table.bad import bad
from tools.contract.table.bad_storage import bad_storage
from tools.contract.table.clusters import SUBNETS, Candidate, Imported, cluster, head
from tools.contract.table.good import good
from tools.contract.table.stricter import stricter

__all__ = ["SUBNETS", "Row", "rows"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One row.

    Attributes:
        name: What is special about the cluster.
        cluster: The cluster with its defaults.
        good: Whether it works.
        stricter: Why our rules refuse what ParallelCluster takes, or None when both must say the same.
        key_type: Type of its key pair.
    """

    name: str
    cluster: Candidate
    good: bool
    stricter: str | None = None
    key_type: str = "ed25519"


def rows() -> list[Row]:
    """Return the table."""
    parts = Imported()
    rsa = cluster(head=head(key_pair=parts.rsa, ssh_from="10.0.0.0/8"), operating_system="ubuntu2204")
    return [
        *(Row(name=name, cluster=one, good=True) for name, one in good(parts).items()),
        *(Row(name=name, cluster=one, good=False) for name, one in {**bad(parts), **bad_storage(parts)}.items()),
        *(Row(name=name, cluster=one, good=False, stricter=why) for name, one, why in stricter(parts)),
        Row(name="an RSA key on Ubuntu", cluster=rsa, good=False, key_type="rsa"),
    ]
