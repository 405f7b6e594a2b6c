#!/bin/bash
# After a job on this node, as root: ends what the job left running and removes its temporary files. It never fails: a node
# whose epilog fails is drained.
set -Euo pipefail
ROOT=${TRAINYARD_ROOT:-}

# Whatever the job started carries its number in its environment, in whatever session it hides.
left=$(grep -lzxF -e "SLURM_JOB_ID=${SLURM_JOB_ID:?set by slurmd}" -- "${ROOT}"/proc/[0-9]*/environ 2>/dev/null)
while IFS= read -r path; do
  path=${path%/environ}
  [[ -z ${path} || ${path##*/} == "$$" ]] || kill -KILL "${path##*/}" 2>/dev/null
done <<<"${left}"
rm -rf -- "${ROOT}/tmp/job-${SLURM_JOB_ID}"
exit 0
