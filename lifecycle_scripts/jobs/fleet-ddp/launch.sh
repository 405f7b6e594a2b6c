#!/bin/bash
# Runs a training program on nodes of an EFA fleet, from its master: with torchrun over SSH, or with mpirun.
#
#   launch.sh NAME PROGRAM [ARGUMENT...]
#
# Everything is on the shared file system: logs in logs/NAME/attempt-N, one file for each node; checkpoints in
# checkpoints/NAME, which the program gets as --directory. When a node is lost the others are stopped, the hostfile is
# read again (the fleet replaces the node), and the program starts again from its last checkpoint.
#
# Environment: NODES (2), LAUNCHER (torchrun or mpirun), PROCESSES_PER_NODE (slots of the hostfile), MAX_RESTARTS (3),
# PYTHON (python3), RENDEZVOUS_PORT (29500), NODE_WAIT (1800 s for a node that is replaced),
# TRAINYARD_HOSTFILE and TRAINYARD_SHARED (from /etc/profile.d/trainyard.sh).
set -Eeuo pipefail

(($# >= 2)) || {
  echo "usage: $0 NAME PROGRAM [ARGUMENT...]" >&2
  exit 2
}
name=$1 program=$2
shift 2
: "${TRAINYARD_HOSTFILE:?set on members of a fleet}" "${TRAINYARD_SHARED:?set where there is a shared file system}"
NODES=${NODES:-2} LAUNCHER=${LAUNCHER:-torchrun} PYTHON=${PYTHON:-python3} PORT=${RENDEZVOUS_PORT:-29500}
folder=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
checkpoints=${TRAINYARD_SHARED}/checkpoints/${name}
logs=${TRAINYARD_SHARED}/logs/${name}
ENVIRONMENT=/etc/profile.d/trainyard.sh # a shell that SSH starts with a command does not read it by itself
declare -a HOSTS=() SLOTS=()

say() {
  printf '%(%Y-%m-%dT%H:%M:%S%z)T [%s] %s\n' -1 "${name}" "$*"
}

# read_hosts: the first NODES workers of the hostfile that answer.
read_hosts() {
  local host slots
  HOSTS=() SLOTS=()
  while read -r host slots <&3; do
    ((${#HOSTS[@]} < NODES)) || break
    if ssh -o BatchMode=yes -o ConnectTimeout=5 -n -- "${host}" true 2>/dev/null; then
      HOSTS+=("${host}")
      SLOTS+=("${PROCESSES_PER_NODE:-${slots#slots=}}")
    fi
  done 3<"${TRAINYARD_HOSTFILE}"
  ((${#HOSTS[@]} == NODES))
}

wait_for_hosts() {
  local deadline=$((SECONDS + ${NODE_WAIT:-1800}))
  # shellcheck disable=SC2310  # a question
  until read_hosts; do
    ((SECONDS < deadline)) || {
      say "waited in vain for ${NODES} nodes in ${TRAINYARD_HOSTFILE}; ${#HOSTS[@]} answer: ${HOSTS[*]:-}"
      exit 1
    }
    sleep 5
  done
}

# with_torchrun DIRECTORY ARGUMENT...: one torchrun on each node; the first that ends in failure ends all.
with_torchrun() {
  local directory=$1 rank command code=0
  local -a processes=()
  shift
  for rank in "${!HOSTS[@]}"; do
    printf -v command '%q ' exec "${PYTHON}" -m torch.distributed.run --nnodes="${NODES}" --node-rank="${rank}" \
      --nproc-per-node="${SLOTS[rank]}" --rdzv-backend=c10d --rdzv-id="${name}-${attempt}" \
      --rdzv-endpoint="${HOSTS[0]}:${PORT}" --rdzv-conf=timeout=120 "${program}" --directory "${checkpoints}" "$@"
    # -tt: when this end is gone, the other ends too
    command="[[ ! -e ${ENVIRONMENT} ]] || source ${ENVIRONMENT}; ${command}"
    ssh -tt -o BatchMode=yes -n -- "${HOSTS[rank]}" "bash -c ${command@Q}" >"${directory}/${HOSTS[rank]}.log" 2>&1 &
    processes+=($!)
  done
  trap 'kill -- "${processes[@]}" 2>/dev/null || true' EXIT
  # asked one by one: of two that end at once, neither may be overlooked
  while ((${#processes[@]} > 0 && code == 0)); do
    for rank in "${!processes[@]}"; do
      kill -0 -- "${processes[rank]}" 2>/dev/null || {
        wait -- "${processes[rank]}" || code=$?
        unset 'processes[rank]'
      }
    done
    ((${#processes[@]} == 0 || code != 0)) || sleep 0.5
  done
  ((${#processes[@]} == 0)) || kill -- "${processes[@]}" 2>/dev/null || true
  wait || true
  trap - EXIT
  return "${code}"
}

# with_mpirun DIRECTORY ARGUMENT...: one mpirun; rank.sh gives each process the variables that torch reads.
with_mpirun() {
  local directory=$1 rank total=0 list=''
  shift
  for rank in "${!HOSTS[@]}"; do
    list+="${list:+,}${HOSTS[rank]}:${SLOTS[rank]}"
    total=$((total + SLOTS[rank]))
  done
  mpirun --host "${list}" -np "${total}" --bind-to none --output-filename "${directory}" \
    --mca pml ^cm --mca btl tcp,self --mca btl_tcp_if_exclude lo,docker0 --mca plm_rsh_agent ssh \
    -x PATH -x MASTER_ADDR="${HOSTS[0]}" -x MASTER_PORT="${PORT}" \
    "${folder}/rank.sh" "${PYTHON}" "${program}" --directory "${checkpoints}" "$@" >"${directory}/mpirun.log" 2>&1
}

case ${LAUNCHER} in
  torchrun | mpirun) ;;
  *)
    echo "LAUNCHER must be torchrun or mpirun, got ${LAUNCHER}" >&2
    exit 2
    ;;
esac
mkdir -p -- "${checkpoints}" "${logs}"
for ((attempt = 0; attempt <= ${MAX_RESTARTS:-3}; attempt++)); do
  wait_for_hosts
  # a second launch of the same name goes on counting: no log is ever written over
  number=0
  while ! mkdir -- "${logs}/attempt-${number}" 2>/dev/null; do
    number=$((number + 1))
  done
  say "attempt ${number} with ${LAUNCHER} on ${HOSTS[*]}: logs in ${logs}/attempt-${number}"
  code=0
  # shellcheck disable=SC2310  # their last command is what counts
  case ${LAUNCHER} in
    torchrun) with_torchrun "${logs}/attempt-${number}" "$@" || code=$? ;;
    *) with_mpirun "${logs}/attempt-${number}" "$@" || code=$? ;;
  esac
  if ((code == 0)); then
    say "done; checkpoints in ${checkpoints}"
    exit 0
  fi
  say "attempt ${number} ended with code ${code}"
done
say "given up after $((${MAX_RESTARTS:-3} + 1)) attempts; start it again to go on from ${checkpoints}"
exit 1
