"""Generate the instance catalogue from the captures that moto and botocore carry, and the corrections to them.

``python -m tools.generate_instances`` rewrites ``cdk_trainyard/instances/data``; a test regenerates the files and
compares them byte for byte. What is read:

- moto's copy of EC2's DescribeInstanceTypes and DescribeInstanceTypeOfferings, and its zones by Region;
- botocore's ``ClusterInstanceType``: the types that SageMaker HyperPod accepts;
- botocore's ``partitions.json``: the Regions that its list of endpoints names;
- botocore's ``InstanceType`` of EC2: the names of types that moto has no description of;
- ``corrections.json``, written by hand: each correction names what it corrects, and one that no longer corrects
  anything is an error.
"""

import argparse
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import botocore.session
import moto

DATA = Path(__file__).parent.parent / "constructs" / "cdk_trainyard" / "instances" / "data"
COLUMNS = (
    "vcpus",
    "threads_per_core",
    "memory_mib",
    "architecture",
    "accelerators",
    "network_cards",
    "max_efa_interfaces",
    "network_gbps",
    "nvme_gb",
    "ipv4_per_interface",
    "usage_classes",
    "placement_strategies",
    "hyperpod",
    "zones",
)
ZoneIds = Mapping[str, Sequence[str]]
"""Region -> zone ids."""


def main() -> None:
    """Rewrite the committed data, or write it elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=DATA, help="folder to write into")
    write(parser.parse_args().output)


def write(folder: Path) -> None:
    """Write ``instance_types.json`` and ``zones.json`` into ``folder``."""
    by_hand = json.loads((DATA / "corrections.json").read_text())
    if moto.__version__ != by_hand["captured"]["moto"]:
        raise SystemExit(
            f"moto is {moto.__version__}, corrections.json dates {by_hand['captured']['moto']}: set version and date"
        )
    offered = offerings()
    sets = zone_sets(offered.values())
    types = corrected({name: facts(raw) for name, raw in captured_types().items()}, by_hand)
    accepted = hyperpod_types()
    for name, row in types.items():
        row |= {"hyperpod": name in accepted, "zones": set_key(zone_set(offered.get(name, {})))}
    if missing := accepted - types.keys():
        raise SystemExit(f"HyperPod accepts types without facts: {sorted(missing)}; add them to corrections.json")
    sources = f"moto {moto.__version__}, botocore {botocore.__version__}, corrections.json"
    dump(
        folder / "instance_types.json",
        {"captured": by_hand["captured"]["date"], "sources": sources, "columns": COLUMNS},
        {
            "unknown": {addition["type"]: addition["unknown"] for addition in by_hand["additions"]},
            "names_alone": families(ec2_names() - types.keys()),
            "types": {name: [types[name][column] for column in COLUMNS] for name in sorted(types)},
        },
    )
    regions = {region: zone_set({region: zones}) for region, zones in sorted(region_zones(offered).items())}
    head = {"sources": sources, "named_alone": sorted(named_regions(regions) - regions.keys())}
    dump(folder / "zones.json", head, {"regions": regions, "sets": dict(sorted(sets.items()))})


def dump(path: Path, head: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Write JSON with one line per entry of each table, so that a change of one type is a change of one line."""
    parts = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    for key, table in tables.items():
        lines = ",\n".join(
            f"{json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in table.items()
        )
        parts.append(f"{json.dumps(key)}: {{\n{lines}\n}}")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n")


# ---------------------------------------------------------------- what was captured
def resource(*path: str) -> Any:
    """Read one of moto's compressed resources."""
    return json.loads(gzip.decompress(files("moto").joinpath("ec2", "resources", *path).read_bytes()))


def captured_types() -> dict[str, Any]:
    """Return EC2's descriptions by type name."""
    types: dict[str, Any] = resource("instance_types.json.gz")
    return types


def hyperpod_types() -> set[str]:
    """Return the EC2 names of the types in SageMaker's ClusterInstanceType."""
    shape = botocore.session.get_session().get_service_model("sagemaker").shape_for("ClusterInstanceType")
    return {name.removeprefix("ml.") for name in shape.enum}


def ec2_names() -> set[str]:
    """Return the names of types that EC2's API has."""
    return set(botocore.session.get_session().get_service_model("ec2").shape_for("InstanceType").enum)


def families(names: Iterable[str]) -> dict[str, list[str]]:
    """Return family -> sizes of types."""
    pairs = sorted(name.split(".") for name in names)
    return {family: [size for _, size in group] for family, group in groupby(pairs, key=lambda pair: pair[0])}


def named_regions(known: Mapping[str, Any]) -> set[str]:
    """Return the Regions that botocore's list of endpoints names in the partitions of those that are known."""
    partitions = botocore.session.get_session().get_data("partitions")["partitions"]
    named = [set(partition["regions"]) for partition in partitions]
    return {region for each in named if each & known.keys() for region in each if not region.endswith("-global")}


def offerings() -> dict[str, dict[str, list[str]]]:
    """Return type -> Region -> zone ids that offer it."""
    folder = files("moto").joinpath("ec2", "resources", "instance_type_offerings", "availability-zone-id")
    offered: dict[str, dict[str, list[str]]] = {}
    for name in sorted(entry.name for entry in folder.iterdir()):
        region = name.removesuffix(".json.gz")
        for offer in resource("instance_type_offerings", "availability-zone-id", name):
            offered.setdefault(offer["InstanceType"], {}).setdefault(region, []).append(offer["Location"])
    return offered


def region_zones(offered: Mapping[str, ZoneIds]) -> dict[str, set[str]]:
    """Return Region -> zone ids: those that moto lists, and those that offer something."""
    from moto.ec2.models.availability_zones_and_regions import (  # noqa: PLC0415  brings all of EC2, for who calls this
        RegionsAndZonesBackend,
    )

    zones = {region: {zone.zone_id for zone in listed} for region, listed in RegionsAndZonesBackend.zones.items()}
    for regions in offered.values():
        for region, ids in regions.items():
            zones[region] |= set(ids)
    return zones


# ---------------------------------------------------------------- zones, written short
def zone_set(zones: Mapping[str, Iterable[str]]) -> str:
    """Write Region -> zone ids as ``use1:1,2,4 usw2:1``."""
    words = []
    for _, ids in sorted(zones.items()):
        prefixes, numbers = zip(*(zone_id.split("-az") for zone_id in sorted(ids)), strict=True)
        (prefix,) = set(prefixes)
        words.append(f"{prefix}:{','.join(numbers)}")
    return " ".join(words)


def zone_sets(offered: Iterable[ZoneIds]) -> dict[str, str]:
    """Return every different zone set by its key."""
    texts = {zone_set(zones) for zones in offered}
    sets = {set_key(text): text for text in texts}
    if len(sets) != len(texts):
        raise SystemExit("two zone sets have one key; lengthen the keys")
    return sets


def set_key(text: str) -> str:
    """Name a zone set by its content, so that a new set moves no other; no zones have no name."""
    return hashlib.sha256(text.encode()).hexdigest()[:6] if text else ""


# ---------------------------------------------------------------- facts of one type
def facts(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Turn one of EC2's descriptions into a row of the catalogue."""
    network, cpu = raw["NetworkInfo"], raw["VCpuInfo"]
    return {
        "vcpus": cpu["DefaultVCpus"],
        "threads_per_core": cpu["DefaultThreadsPerCore"],
        "memory_mib": raw["MemoryInfo"]["SizeInMiB"],
        "architecture": next(name for name in raw["ProcessorInfo"]["SupportedArchitectures"] if name != "i386"),
        "accelerators": accelerators(raw),
        "network_cards": network_cards(network["NetworkCards"]),
        "max_efa_interfaces": network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        "network_gbps": network_gbps(network),
        "nvme_gb": nvme_gb(raw.get("InstanceStorageInfo")),
        "ipv4_per_interface": network["Ipv4AddressesPerInterface"],
        "usage_classes": " ".join(sorted(raw["SupportedUsageClasses"])),
        "placement_strategies": " ".join(sorted(raw["PlacementGroupInfo"]["SupportedStrategies"])),
    }


def accelerators(raw: Mapping[str, Any]) -> list[list[Any]]:
    """Return kind, name, count, MiB and NeuronCores of one device. A part of a GPU counts as one logical GPU."""
    gpus = [
        ["gpu", gpu["Name"], gpu["Count"] or gpu["LogicalGpuCount"], gpu["MemoryInfo"]["SizeInMiB"], 0]
        for gpu in raw.get("GpuInfo", {}).get("Gpus", [])
    ]
    neuron = [
        ["neuron", device["Name"], device["Count"], device["MemoryInfo"]["SizeInMiB"], device["CoreInfo"]["Count"]]
        for device in raw.get("NeuronInfo", {}).get("NeuronDevices", [])
    ]
    return gpus + neuron


def network_cards(cards: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """Return runs of equal cards: how many, interfaces of one, what they carry."""
    if [card["NetworkCardIndex"] for card in cards] != list(range(len(cards))):
        raise SystemExit(f"network cards out of order: {cards}")
    kinds = [(card["MaximumNetworkInterfaces"], "efa" if "efa" in card["InterfaceTypes"] else "ena") for card in cards]
    return [[len(list(run)), *kind] for kind, run in groupby(kinds)]


def network_gbps(network: Mapping[str, Any]) -> float:
    """Parse ``NetworkPerformance``; the sum of the cards is wrong for p6-b200, p6-b300, trn2.3xlarge and others.

    Old types say ``Moderate`` and the like: there the peak of the card is all that is known.
    """
    words = re.fullmatch(r"(?:Up to )?(?:(\d+)x )?([\d.]+) Gigabit", network["NetworkPerformance"])
    if words:
        gbps = int(words[1] or 1) * float(words[2])
    else:
        gbps = sum(card["PeakBandwidthInGbps"] for card in network["NetworkCards"])
    return int(gbps) if gbps == int(gbps) else gbps


def nvme_gb(storage: Mapping[str, Any] | None) -> int:
    """Return the GB of NVMe SSD; hard disks and the SSDs of Xen types do not count."""
    if storage is None or storage["NvmeSupport"] == "unsupported":
        return 0
    return sum(disk["Count"] * disk["SizeInGB"] for disk in storage["Disks"] if disk["Type"] == "ssd")


def corrected(types: dict[str, dict[str, Any]], by_hand: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Apply corrections.json; what it says of the capture must be true."""
    for fix in by_hand["corrections"]:
        row, fact = types[fix["type"]], fix["fact"]
        if row[fact] != fix["captured"]:
            raise SystemExit(f"correction of {fact!r} of {fix['type']}: the capture says {row[fact]!r} now; review it")
        row[fact] = fix["corrected"]
    for addition in by_hand["additions"]:
        if addition["type"] in types:
            raise SystemExit(f"{addition['type']} is in the capture now; remove the addition")
        types[addition["type"]] = dict(addition["facts"])
    return types


if __name__ == "__main__":
    main()
