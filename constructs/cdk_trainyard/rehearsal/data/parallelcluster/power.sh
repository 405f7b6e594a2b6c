#!/bin/bash
# Stand-in for ParallelCluster's slurm_resume and slurm_suspend, which launch and end instances: notes the nodes that Slurm
# names, a file each, for the rehearsal to start and stop.
set -Eeuo pipefail
what=${0##*/}
names=$(scontrol show hostnames "$1")
for name in ${names}; do
  : >"/run/power/${what#slurm_}.${name}"
done
