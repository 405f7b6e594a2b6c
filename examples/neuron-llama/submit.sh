#!/bin/bash
# Submits two jobs: one that compiles, and one that trains when it has ended well. Prints their numbers.
#
#   submit.sh --dataset DIRECTORY [ARGUMENT of train.py...]
#
# Run it on the cluster, from anywhere; this folder and everything that is named are on shared storage. Environment: see
# README.md. What sbatch reads itself counts too, for example SBATCH_PARTITION.
set -Eeuo pipefail
folder=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
# shellcheck source-path=SCRIPTDIR source=settings.sh
source "${folder}/settings.sh"

# need_shared NAME: make the directory of a setting, and refuse the disk of this one node.
need_shared() {
  local place root
  [[ ${!1} == /* ]] || fail "'$1' must be an absolute path, got '${!1}'"
  mkdir -p -- "${!1}" || fail "'$1' must be a directory that can be made, got ${!1}"
  place=$(stat --format=%d -- "${!1}")
  root=$(stat --format=%d -- /)
  [[ ${place} != "${root}" || -n ${ALLOW_LOCAL_STORAGE:-} ]] \
    || fail "'$1' must be on shared storage, got ${!1}, which is on this node's own disk; mount the file system, or set another path below it"
}

need_number NODES 1
need_number CORES_PER_NODE 1
need_number COMPILE_STEPS 1
need_number MAX_REQUEUES 0
need_python
refuse_own "$@"
check_arguments "${folder}" "${NODES}" "$@"
need_shared RUN_DIRECTORY
need_shared CACHE_DIRECTORY

export JOB_FOLDER=${folder}
common=(--parsable --nodes="${NODES}" --chdir="${RUN_DIRECTORY}" --output="${RUN_DIRECTORY}/%x-%j.out")
compile=$(sbatch "${common[@]}" "${folder}/compile.sbatch" "$@")
compile=${compile%%;*}
if ! train=$(sbatch "${common[@]}" --dependency="afterok:${compile}" --kill-on-invalid-dep=yes "${folder}/train.sbatch" "$@"); then
  scancel "${compile}"
  fail "the job that trains was refused, so job ${compile}, which compiles for it, is cancelled"
fi
printf 'compile %s\ntrain %s after %s\noutput %s\n' "${compile}" "${train%%;*}" "${compile}" "${RUN_DIRECTORY}"
