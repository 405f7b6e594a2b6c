#!/bin/bash
# One task of the job step, one per node: works out where the processes meet, and starts them. Runs inside the step,
# because a step that is tried again after a node was replaced runs on other nodes than the batch script knew.
set -Eeuo pipefail

: "${SLURM_JOB_ID:?runs inside a job}" "${SLURM_STEP_ID:?runs inside a job step}"
: "${SLURM_STEP_NODELIST:?runs inside a job step}" "${SLURM_STEP_NUM_NODES:?runs inside a job step}"
: "${JOB_NODES:?set by job.sbatch}"
: "${PYTHON:?set by job.sbatch}" "${PROCESSES_PER_NODE:?set by job.sbatch}" "${TRAIN_DIRECTORY:?set by job.sbatch}"
((SLURM_STEP_NUM_NODES == JOB_NODES)) || {
  printf 'the step has %d of the %d nodes of the job: fewer processes would learn something else\n' \
    "${SLURM_STEP_NUM_NODES}" "${JOB_NODES}" >&2
  exit 75 # of sysexits.h: it may be better the next time
}
folder=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)

first_node() {
  local nodes
  nodes=$(scontrol show hostnames "${SLURM_STEP_NODELIST}")
  printf '%s' "${nodes%%$'\n'*}"
}

# The interface that leads to the other nodes: not eth0 everywhere.
interface() {
  local words route
  route=$(ip -oneline route show default)
  read -r -a words <<<"${route#*dev }"
  printf '%s' "${words[0]}"
}

head=${RENDEZVOUS_HOST:-}
[[ -n ${head} ]] || head=$(first_node)
if [[ -z ${GLOO_SOCKET_IFNAME:-} ]]; then
  GLOO_SOCKET_IFNAME=$(interface)
fi
export GLOO_SOCKET_IFNAME OMP_NUM_THREADS=1

exec "${PYTHON}" -m torch.distributed.run \
  --nnodes="${SLURM_STEP_NUM_NODES}" \
  --nproc-per-node="${PROCESSES_PER_NODE}" \
  --rdzv-backend=c10d \
  --rdzv-endpoint="${head}:${RENDEZVOUS_PORT:-29500}" \
  --rdzv-id="${SLURM_JOB_ID}.${SLURM_STEP_ID}.${SLURM_RESTART_COUNT:-0}" \
  --rdzv-conf=timeout=300 \
  "${folder}/train.py" --directory "${TRAIN_DIRECTORY}" "$@"
