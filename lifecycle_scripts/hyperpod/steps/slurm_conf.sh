# shellcheck shell=bash
# Accounting, prolog and epilog in Slurm's configuration, on the controller.
: "${ROOT?}" "${HOST?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../../lib/restarts.sh
source "${BUNDLE}/lib/restarts.sh"
# shellcheck source-path=SCRIPTDIR source=../../lib/slurm_conf.sh
source "${BUNDLE}/lib/slurm_conf.sh"

SLURM_SCRIPTS=/opt/slurm/etc/scripts # of step job_hooks
SLURM_CONF_MARK='# trainyard: configuration'
declare -gA SLURM_CONF_GROUPS=([api]="SlurmConfig of the cluster's instance groups" [legacy]='provisioning_parameters.json')

step slurm_conf "wait for HyperPod's slurm.conf, and add what is ours" \
  'HyperPod has not written slurm.conf, or not for this controller' 'job_hooks'

step_slurm_conf_done() {
  [[ ${NODE[role]} != controller ]] || { slurm_conf_is_written && slurm_conf_is_ours && ! is_restart_due slurm_conf; }
}

step_slurm_conf_run() {
  local lines
  wait_until 600 "${NODE[address]} or ${HOST} in slurm.conf" slurm_conf_is_written \
    || fail "HyperPod has not made this node the controller: is it ${NODE[group]} in ${SLURM_CONF_GROUPS[${NODE[topology]}]}?"
  lines=$(slurm_conf_lines)
  restart_due slurm_conf
  slurm_conf_put "${SLURM_CONF_MARK}" "${lines}"
  # A change of a controller that runs; at first it has not started.
  ! systemctl is-active --quiet slurmctld || systemctl restart slurmctld
  restart_made slurm_conf
}

step_slurm_conf_verify() {
  slurm_conf_is_ours
}

slurm_conf_is_written() {
  grep -qF -e "${NODE[address]}" -e "${HOST}" -- "${SLURM_ETC?}/slurm.conf"
}

slurm_conf_is_ours() {
  local lines
  lines=$(slurm_conf_lines) && slurm_conf_has "${SLURM_CONF_MARK}" "${lines}"
}

# What somebody else says of accounting is not said again.
slurm_conf_lines() {
  local others
  others=$(slurm_conf_value AccountingStorageType "${SLURM_CONF_MARK}") || return
  [[ -z ${NODE[job_hooks]-} ]] || printf '%s\n' "Prolog=${SLURM_SCRIPTS}/prolog.sh" "Epilog=${SLURM_SCRIPTS}/epilog.sh" \
    "TaskProlog=${SLURM_SCRIPTS}/task-prolog.sh"
  [[ -z ${NODE[accounting]-} || ${others,,} == accounting_storage/slurmdbd ]] \
    || printf '%s\n' 'AccountingStorageType=accounting_storage/slurmdbd' "AccountingStorageHost=${NODE[address]}" \
      'JobAcctGatherType=jobacct_gather/linux' 'JobAcctGatherFrequency=30'
}
