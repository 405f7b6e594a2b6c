"""Generate the limits of FSx for the local AWS from what botocore's service model says of them, in words.

``python -m tools.generate_fsx_limits`` rewrites ``cdk_trainyard/local/services/fsx_limits.json``; a test generates it
again and compares. The model's shapes have ranges that are wider than what FSx sells; which values those are stands in
the documentation of their members. A sentence that is not found is an error: AWS has changed it, and it must be read.
What the model does not say stands in ``BY_HAND``, with its source.
"""

import json
import re
from pathlib import Path
from typing import Any

import botocore
import botocore.session

OUTPUT = Path(__file__).parents[1] / "constructs" / "cdk_trainyard" / "local" / "services" / "fsx_limits.json"
BY_HAND = {
    "lustre_efa_step_gib": {"125": 38400, "250": 19200, "500": 9600, "1000": 4800},
    "lustre_efa_source": "FSx for Lustre user guide, Increasing storage capacity, "
    "https://docs.aws.amazon.com/ja_jp/fsx/latest/LustreGuide/increase-storage-capacity.html, read 2026-11-22",
}
Limits = dict[str, Any]
_TYPE = re.compile(r"[A-Z]+(?:_[A-Z]+)*_\d")


def limits() -> Limits:
    """Return everything."""
    model = botocore.session.get_session().get_service_model("fsx")
    lustre = members(model, "CreateFileSystemLustreConfiguration")
    openzfs = members(model, "CreateFileSystemOpenZFSConfiguration")
    capacity = members(model, "CreateFileSystemRequest")["StorageCapacity"]
    iops = members(model, "CreateFileSystemLustreMetadataConfiguration")["Iops"]
    associations = plain(model.operation_model("CreateDataRepositoryAssociation").documentation)
    hdd = said(r"increments of (\d+) GiB for (\d+) MB/s/TiB .* increments of (\d+) GiB for (\d+) MB/s/TiB", capacity)
    tiering_iops = said(r"Intelligent-Tiering file systems, valid values are (\d+) and (\d+)", iops)
    return {
        "source": f"botocore {botocore.__version__}, fsx/2018-03-01/service-2.json, by tools/generate_fsx_limits.py",
        "lustre_throughput": {
            f"{kind} {storage}": numbers(values)
            for kind, storage, values in re.findall(
                r"For (\w+) (SSD|HDD) storage: ([\d, ]+) MB/s/TiB", lustre["PerUnitStorageThroughput"]
            )
        },
        "lustre_capacity_gib": dict(sorted(ssd_capacities(capacity))),
        "lustre_hdd_step_gib": {hdd[1]: int(hdd[0]), hdd[3]: int(hdd[2])},
        **BY_HAND,
        "lustre_metadata_iops": {"SSD": ssd_iops(iops), "INTELLIGENT_TIERING": list(map(int, tiering_iops))},
        "lustre_tiering_step_mb_s": int(said(r"or multiples of (\d+) MBps", lustre["ThroughputCapacity"])[0]),
        "openzfs_throughput": openzfs_throughputs(openzfs),
        "openzfs_capacity_gib": numbers(" ".join(said(r"OpenZFS .*? from (\d+) GiB up to ([\d,]+) GiB", capacity))),
        "data_repository_associations": int(said(r"a maximum of (\d+) data repository associations", associations)[0]),
    }


def ssd_capacities(text: str) -> list[tuple[str, Limits]]:
    """Return by deployment type what a capacity is a multiple of, and which others there are."""
    sentence = r"For ([^.]*?) deployment types?(?: using SSD storage type)?,(?: the)? valid values are ([^.]*?)\."
    found = []
    for kinds, values in re.findall(sentence, text):
        *others, step = numbers(values)
        row = {"step": step, "also": [value for value in others if value % step]}
        found += [(kind, row) for kind in _TYPE.findall(kinds)]
    return found


def ssd_iops(text: str) -> list[int]:
    """Return the metadata IOPS that can be asked for."""
    listed, step, most = said(
        r"SSD file systems, valid values are ([\d, ]+), and multiples of (\d+) up to .*?(\d+)", text
    )
    return sorted({*numbers(listed), *range(int(step), int(most) + 1, int(step))})


def openzfs_throughputs(documented: dict[str, str]) -> dict[str, list[int]]:
    """Return by deployment type which throughputs there are; of the HA types only the least and the most is said."""
    lists: dict[str, list[int]] = {}
    for kinds, values in re.findall(
        r"For ([A-Z_0-9 and]+), valid values are ([^.]*?) MBps", documented["ThroughputCapacity"]
    ):
        lists |= dict.fromkeys(_TYPE.findall(kinds), numbers(values))
    by_range = {(min(values), max(values)): values for values in lists.values()}
    ranges = re.findall(
        r"(\w+)- Creates (?:(?!- Creates).)*?capacities of ([\d,]+) - ([\d,]+) MB", documented["DeploymentType"]
    )
    found = {kind: by_range[numbers(least)[0], numbers(most)[0]] for kind, least, most in ranges}
    return dict(sorted({**found, **lists}.items()))


def members(model: Any, shape: str) -> dict[str, str]:
    """Return what is said of the members of a shape, without markup."""
    return {name: plain(member.documentation) for name, member in model.shape_for(shape).members.items()}


def plain(text: str) -> str:
    """Return documentation without markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", text))


def said(pattern: str, text: str) -> tuple[str, ...]:
    """Return what a sentence says."""
    found = re.search(pattern, text)
    if not found:
        raise SystemExit(f"botocore {botocore.__version__} no longer says {pattern!r}; read what it says now")
    return found.groups()


def numbers(text: str) -> list[int]:
    """Return the numbers in a text; a comma between digits belongs to one."""
    return [int(number.replace(",", "")) for number in re.findall(r"\d{1,3}(?:,\d{3})+|\d+", text)]


def main() -> None:
    """Rewrite the committed data."""
    OUTPUT.write_text(dump(limits()))


def dump(value: Limits) -> str:
    """Write JSON, a list on a line."""
    text = json.dumps(value, indent=2)
    return re.sub(r"\[[^\[\]]*\]", lambda found: json.dumps(json.loads(found[0])), text) + "\n"


if __name__ == "__main__":
    main()
