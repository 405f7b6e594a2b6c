#!/bin/bash
# One task of the job step, one per node: checks the node, works out where the processes meet, and starts them. Runs
# inside the step, because a step that is tried again after a node was replaced runs on other nodes than the job knew.
#   launch.sh compile|train [ARGUMENT of train.py...]
set -Eeuo pipefail
: "${SLURM_JOB_ID:?runs inside a job}" "${SLURM_STEP_ID:?runs inside a job step}"
: "${SLURM_STEP_NODELIST:?runs inside a job step}" "${SLURM_STEP_NUM_NODES:?runs inside a job step}"
: "${JOB_NODES:?set by run.sh}" "${PYTHON:?set by run.sh}" "${CORES_PER_NODE:?set by run.sh}"
: "${RUN_DIRECTORY:?set by run.sh}" "${CACHE_DIRECTORY:?set by run.sh}"
folder=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
mode=$1
shift

fail() {
  printf 'launch.sh on %s: %s\n' "${SLURMD_NODENAME:-${HOSTNAME}}" "$*" >&2
  exit 2
}

((SLURM_STEP_NUM_NODES == JOB_NODES)) || {
  printf 'the step has %d of the %d nodes of the job\n' "${SLURM_STEP_NUM_NODES}" "${JOB_NODES}" >&2
  exit 75 # of sysexits.h: it may be better the next time
}

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

# need_directory NAME: on shared storage, made when the job was submitted; made here it would be this node's own.
need_directory() {
  [[ -d ${!1} ]] || fail "'$1' must be a directory that every node sees, got ${!1}, which is not here: is the file system mounted?"
  [[ -w ${!1} ]] || fail "'$1' must be writable, got ${!1}, which belongs to somebody else"
}

# need_devices: as many Neuron devices as the cores take; a chip of trn1 has two.
need_devices() {
  local -a devices
  local wanted=$(((CORES_PER_NODE + ${CORES_PER_DEVICE:-2} - 1) / ${CORES_PER_DEVICE:-2}))
  shopt -s nullglob
  devices=("${TRAINYARD_ROOT:-}"/dev/neuron[0-9]*)
  shopt -u nullglob
  ((${#devices[@]} >= wanted)) || fail "this node must have ${wanted} Neuron devices for ${CORES_PER_NODE} NeuronCores, has ${#devices[@]}: CORES_PER_NODE is another type's, or the driver is not loaded"
}

# EFA registers memory, which it locks; 32 processes open many files.
set_limits() {
  local most files=${OPEN_FILES:-65535}
  if [[ ${FI_PROVIDER} == efa ]]; then
    ulimit -l unlimited 2>/dev/null \
      || fail 'EFA must be able to lock memory, and the limit cannot be raised: slurmd needs LimitMEMLOCK=infinity'
  fi
  most=$(ulimit -H -n)
  [[ ${most} == unlimited ]] || ((most >= files)) || fail "processes must be able to open ${files} files, this node allows ${most}: slurmd needs LimitNOFILE=${files}"
  ulimit -S -n "${files}"
}

for name in XLA_USE_BF16 XLA_DOWNCAST_BF16; do
  [[ -z ${!name:-} ]] || fail "'${name}' must not be set: it would round the single-precision master weights too"
done
need_directory RUN_DIRECTORY
need_directory CACHE_DIRECTORY
need_devices

# between nodes: EFA. Libfabric finds out itself whether the device writes into memory, and forks need nothing (fi_efa.7).
export FI_PROVIDER=${FI_PROVIDER:-efa}
if [[ -z ${CCOM_SOCKET_IFNAME:-} ]]; then
  CCOM_SOCKET_IFNAME=$(interface)
fi
export CCOM_SOCKET_IFNAME
# the runtime: every core of the node; round to nearest, because the master weights keep what rounding loses
export NEURON_RT_NUM_CORES=${CORES_PER_NODE} TPU_NUM_DEVICES=${CORES_PER_NODE} TPU_CHIPS_PER_HOST_BOUNDS=${CORES_PER_NODE}
export NEURON_RT_STOCHASTIC_ROUNDING_EN=0 NEURON_RT_EXEC_TIMEOUT=${NEURON_RT_EXEC_TIMEOUT:-600}
# the compiler: one cache for both jobs and all nodes. Its key is made of the flags, which must be the same in both
export NEURON_COMPILE_CACHE_URL=${CACHE_DIRECTORY} NEURON_FUSE_SOFTMAX=1 XLA_DISABLE_FUNCTIONALIZATION=0
export NEURON_CC_FLAGS=${NEURON_CC_FLAGS:---model-type transformer --retry_failed_compilation}
export NEURON_PARALLEL_COMPILE_MAX_RETRIES=${NEURON_PARALLEL_COMPILE_MAX_RETRIES:-1}
# the host: fewer arenas, or the memory of 32 tracing processes does not fit
export MALLOC_ARENA_MAX=64 OMP_NUM_THREADS=1
program=$(command -v -- "${PYTHON}") || fail "'PYTHON' must be a program on every node, got '${PYTHON}'"
PATH=$(dirname -- "${program}"):${PATH} # neuronx-cc and neuron_parallel_compile are beside it
export PATH
set_limits

head=${RENDEZVOUS_HOST:-}
[[ -n ${head} ]] || head=$(first_node)
command=("${PYTHON}" -m torch.distributed.run
  --nnodes="${SLURM_STEP_NUM_NODES}"
  --nproc-per-node="${CORES_PER_NODE}"
  --rdzv-backend=c10d
  --rdzv-endpoint="${head}:${RENDEZVOUS_PORT:-29500}"
  --rdzv-id="${SLURM_JOB_ID}.${SLURM_STEP_ID}.${SLURM_RESTART_COUNT:-0}"
  --rdzv-conf=timeout=600
  "${folder}/train.py" --directory "${RUN_DIRECTORY}" "$@")
if [[ ${mode} == compile ]]; then
  command -v neuron_parallel_compile >/dev/null || fail "neuron_parallel_compile must be beside ${program}: torch-neuronx is not in that environment"
  command=(neuron_parallel_compile "${command[@]}")
fi
exec "${command[@]}"
