#!/bin/bash
# HyperPod lifecycle with OnInitComplete: the machine image has configured the node (Slurm, accounting, keys, home on the
# shared file system); this script adds what it does not know.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../lib/steps.sh
source "${here}/lib/steps.sh"

steps=(
  network clock lustre openzfs users devices hostfile job_hooks motd
  containers neuron_environment exporters s3_mounts pam_slurm_adopt
)
provision "${here}" "${steps[@]}"
