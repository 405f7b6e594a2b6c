#!/bin/bash
# HyperPod lifecycle with OnInitComplete: the machine image has configured the node (Slurm, accounting, keys, home on the
# shared file system); this script adds what it does not know. Prolog and epilog stay the image's: its Slurm runs before this
# script, so a job could meet a node that has none of ours yet, and be given back by it.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../lib/steps.sh
source "${here}/lib/steps.sh"

steps=(
  network clock kernel lustre lustre_io openzfs users user_keys devices hostfile motd
  containers neuron_environment exporters metrics_agent s3_mounts pam_slurm_adopt
)
provision "${here}" "${steps[@]}"
