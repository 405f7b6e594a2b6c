#!/bin/bash
# Run when slurm.conf has changed: writes the topology that is missing, and lets slurmctld read it.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
changed=$(python3 -ISB "${here}/slurm_topology.py")
[[ -z ${changed} ]] || systemctl try-restart slurmctld # scontrol reconfigure does not read the topology again everywhere
