# shellcheck shell=bash
# Slurm's prolog and epilog, on every node: HyperPod's partition `dev` has log-in nodes too, and a node without a prolog that
# slurm.conf speaks of is drained by its first job. A job starts where all devices are there and nothing of an older one is
# left, and takes its processes and temporary files with it.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE

SLURM_HOOKS=/opt/slurm/etc/scripts

step job_hooks "prolog and epilog of Slurm's jobs" 'the root file system cannot be written' 'devices'

step_job_hooks_done() {
  [[ -z ${NODE[job_hooks]-} ]] || job_hooks_each job_hooks_holds
}

step_job_hooks_run() {
  job_hooks_each put_file
}

step_job_hooks_verify() {
  job_hooks_each job_hooks_holds
}

# job_hooks_each COMMAND: calls COMMAND PATH MODE TEXT for each file.
job_hooks_each() {
  local name text=''
  for name in prolog.sh epilog.sh task-prolog.sh; do
    text=$(<"${BUNDLE}/job-hooks/${name}") && "$1" "${ROOT}${SLURM_HOOKS}/${name}" 0755 "${text}" || return
  done
  text=$(job_hooks_devices) && "$1" "${ROOT}${SLURM_HOOKS}/devices" 0644 "${text}"
}

job_hooks_devices() {
  local kind due
  for kind in efa_interfaces neuron_devices gpus; do
    due=$(devices_due "${kind}") && printf '%s=%s\n' "${kind}" "${due}" || return
  done
}

job_hooks_holds() {
  holds "$1" "$3"
}
