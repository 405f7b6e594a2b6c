#!/bin/bash
# Before the first step of a job on this node, as root. When it fails, Slurm drains the node and queues the job again: with
# what is missing as the reason, where Slurm alone would say "Prolog error".
set -Eeuo pipefail
ROOT=${TRAINYARD_ROOT:-}
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
job_id=${SLURM_JOB_ID:?set by slurmd} user=${SLURM_JOB_UID:?set by slurmd}
node=${SLURMD_NODENAME:-$(hostname -s)}

drain() {
  "${ROOT}/opt/slurm/bin/scontrol" update "nodename=${node}" state=drain "reason=$1" || true
  echo "$1" >&2
  exit 1
}

# A pattern that matches nothing stays as it is, and does not exist.
count() {
  local path found=0
  for path in "$@"; do
    [[ ! -e ${path} ]] || found=$((found + 1))
  done
  printf '%s' "${found}"
}

count_efa() {
  local listed
  listed=$("${ROOT}/opt/amazon/efa/bin/fi_info" -p efa -t FI_EP_RDM) || listed=''
  awk '$1 == "domain:" && !seen[$2]++ { count++ } END { print count + 0 }' <<<"${listed}"
}

# One line "kind=number" for each kind of device that a node of this type has.
check_devices() {
  local kind expected found
  while IFS='=' read -r kind expected; do
    ((expected > 0)) || continue
    case ${kind} in
      efa_interfaces) found=$(count_efa) ;;
      neuron_devices) found=$(count "${ROOT}"/dev/neuron[0-9]*) ;;
      gpus) found=$(count "${ROOT}"/proc/driver/nvidia/gpus/*) ;;
      *) continue ;;
    esac
    ((found >= expected)) || drain "prolog: ${found} of ${expected} ${kind}"
  done <"${here}/devices"
}

# is_slurms PROCESS: whether it is the prolog or the epilog of a job, or what runs those of Slurm's plugins.
is_slurms() {
  local -a words
  { mapfile -d '' -t words <"$1/cmdline"; } 2>/dev/null || return
  [[ ${words[1]-} -ef ${here}/prolog.sh || ${words[1]-} -ef ${here}/epilog.sh ]] \
    || [[ ${words[0]-} == */slurmstepd && ${words[1]-} == spank ]]
}

# Processes of jobs that Slurm does not run here any more: they carry the job's number in their environment. A job that
# begins or ends has no step either, but its prolog or epilog runs beside this one: nothing of it is left over.
end_leftovers() {
  local found path job
  local -A spared=(["${job_id}"]=1)
  found=$(grep -Hzxo -e 'SLURM_JOB_ID=[0-9]*' -- "${ROOT}"/proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n') || true
  while IFS=: read -r path job; do
    job=${job#SLURM_JOB_ID=}
    # shellcheck disable=SC2310  # a question
    if [[ -n ${job} ]] && is_slurms "${path%/environ}"; then
      spared[${job}]=1
    fi
  done <<<"${found}"
  while IFS=: read -r path job; do
    job=${job#SLURM_JOB_ID=}
    [[ -n ${job} && -z ${spared[${job}]-} ]] || continue
    pgrep -f "slurmstepd: \[${job}\." >/dev/null || {
      path=${path%/environ}
      kill -KILL "${path##*/}" 2>/dev/null || true
    }
  done <<<"${found}"
}

check_devices
end_leftovers
install -d -m 0700 -o "${user}" -- "${ROOT}/tmp/job-${job_id}"
