"""Generate the Neuron SDK's releases from AWS's manifest, and every file that pins a version from the matrix.

``python -m tools.generate_versions --manifest n2-manifest.json --commit 81ce03a`` rewrites ``neuron_sdk.json`` from
``src/helperscripts/n2-manifest.json`` of a checkout of aws-neuron/aws-neuron-sdk. Without ``--manifest`` the files that
pin versions are written from the matrix; a test writes them anew and compares them byte for byte.
"""

import argparse
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from cdk_trainyard.versions import (
    NEURON_INDEX,
    driver_window,
    pinned_packages,
    pinned_release,
    python_versions,
)

ROOT = Path(__file__).parent.parent
DATA = ROOT / "constructs" / "cdk_trainyard" / "versions" / "data"
OLDEST = (2, 24)
"""The oldest release that an engine image of serving was built with."""
SYSTEM_PACKAGES = {
    "driver": "aws-neuronx-dkms",
    "runtime": "aws-neuronx-runtime-lib",
    "collectives": "aws-neuronx-collectives",
    "tools": "aws-neuronx-tools",
}
WHEELS = ("torch-neuronx", "neuronx-cc", "neuronx_distributed", "neuronx_distributed_inference", "libneuronxla")


def main() -> None:
    """Rewrite the releases, or the files that pin versions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--manifest", type=Path, help="n2-manifest.json of a checkout of aws-neuron/aws-neuron-sdk")
    parser.add_argument("--commit", help="the commit of that checkout")
    asked = parser.parse_args()
    if asked.manifest is None:
        for path, text in pin_files().items():
            (ROOT / path).write_text(text)
    elif asked.commit is None:
        parser.error("--manifest needs --commit: every row names its source")
    else:
        (DATA / "neuron_sdk.json").write_text(releases(json.loads(asked.manifest.read_text()), asked.commit))


def releases(manifest: dict[str, Any], commit: str) -> str:
    """Return the content of ``neuron_sdk.json``: one release a row, newest first."""
    day = datetime.strptime(manifest["manifest_date"], "%m/%d/%Y").date().isoformat()  # noqa: DTZ007  a date
    source = f"aws-neuron/aws-neuron-sdk {commit[:7]}, src/helperscripts/n2-manifest.json"
    rows = [
        json.dumps({**_release(release), "source": source, "date": day})
        for release in manifest["neuron_releases"]
        if tuple(map(int, release["neuron_version"].split(".")[:2])) >= OLDEST
    ]
    return '{\n"releases": [\n' + ",\n".join(rows) + "\n]\n}\n"


def pin_files() -> dict[str, str]:
    """Return every file that pins versions of Neuron's packages, by its path: what the matrix says."""
    return {
        "lifecycle_scripts/parallelcluster/neuron_versions.sh": _parallelcluster(),
        "examples/neuron-llama/requirements.txt": _requirements("neuron-llama"),
    }


def _release(release: dict[str, Any]) -> dict[str, Any]:
    packages = release["packages"]
    versions = {package["name"]: package["version"] for package in packages}
    return {
        "sdk": release["neuron_version"],
        **{part: versions[name] for part, name in SYSTEM_PACKAGES.items()},
        "wheels": [
            {
                "name": package["name"],
                "version": package["version"],
                "pythons": package["supported_python_versions"],
                "families": package["supported_instances"],
            }
            for package in packages
            if package["name"] in WHEELS
        ],
    }


def _requirements(use: str) -> str:
    release = pinned_release(use)
    return (
        f"# Neuron SDK {release.sdk}, for Python {', '.join(python_versions(pinned_packages(use)))}. Written by "
        "tools/generate_versions.py.\n"
        f"# {release.pinned_because}\n"
        f"--extra-index-url {NEURON_INDEX}\n" + "".join(f"{package}\n" for package in pinned_packages(use))
    )


def _parallelcluster() -> str:
    use = "parallelcluster"
    release = pinned_release(use)
    lowest, before = driver_window(release.runtime)
    runtime = [f"{SYSTEM_PACKAGES[part]} {getattr(release, part)}" for part in ("collectives", "runtime", "tools")]
    return f"""# shellcheck shell=bash
# Neuron SDK {release.sdk}. Written by tools/generate_versions.py from the matrix of versions.
# {release.pinned_because}
NEURON_DRIVER=({SYSTEM_PACKAGES["driver"]} {release.driver})
# Drivers that this runtime works with, from the first and before the second; empty: no bound is known.
NEURON_DRIVERS=('{lowest or ""}' '{before or ""}')
NEURON_RUNTIME=({" ".join(runtime)})
NEURON_PYTHON=({" ".join(pinned_packages(use))})
NEURON_PYTHONS='{" ".join(python_versions(pinned_packages(use)))}'
export NEURON_DRIVER NEURON_DRIVERS NEURON_RUNTIME NEURON_PYTHON NEURON_PYTHONS
"""


if __name__ == "__main__":
    main()
