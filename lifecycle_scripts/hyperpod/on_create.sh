#!/bin/bash
# HyperPod lifecycle with OnCreate: this script configures the node alone, and starts Slurm.
set -Eeuo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../lib/steps.sh
source "${here}/lib/steps.sh"

# Slurm comes last: a node takes jobs when everything else is right.
steps=(
  network clock kernel lustre_efa lustre lustre_io openzfs users home devices ssh user_keys hostfile job_hooks logs motd
  slurm_conf slurm_topology accounting
  containers neuron_environment exporters metrics_agent s3_mounts pam_slurm_adopt
  slurm
)
provision "${here}" "${steps[@]}"
