# shellcheck shell=bash
# What is ours in Slurm's configuration, on the controller. slurm.conf is HyperPod's and stays as it is; it includes
# accounting.conf, which HyperPod leaves empty. That is where accounting, prolog and epilog go, in a block of our own.
: "${ROOT?}" "${HOST?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../../lib/restarts.sh
source "${BUNDLE}/lib/restarts.sh"

SLURM_SCRIPTS=/opt/slurm/etc/scripts # of step job_hooks
SLURM_CONF=${ROOT}/opt/slurm/etc
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
  put_file "${SLURM_CONF}/accounting.conf" 0644 "${lines}"
  slurm_conf_is_included || slurm_conf_include
  # A change of a controller that runs; at first it has not started.
  ! systemctl is-active --quiet slurmctld || systemctl restart slurmctld
  restart_made slurm_conf
}

step_slurm_conf_verify() {
  slurm_conf_is_ours
}

slurm_conf_is_written() {
  grep -qF -e "${NODE[address]}" -e "${HOST}" -- "${SLURM_CONF}/slurm.conf"
}

slurm_conf_is_ours() {
  local lines
  lines=$(slurm_conf_lines) && holds "${SLURM_CONF}/accounting.conf" "${lines}" && slurm_conf_is_included
}

slurm_conf_is_included() {
  grep -qiE '^[[:space:]]*include[[:space:]]+(/opt/slurm/etc/)?accounting\.conf' -- "${SLURM_CONF}/slurm.conf"
}

# An image whose slurm.conf does not include it: one line, at its end. Added and not written anew, since HyperPod may be at it.
slurm_conf_include() {
  local text line='Include accounting.conf'
  text=$(cat -- "${SLURM_CONF}/slurm.conf" && printf 'end')
  [[ ${text} == *$'\n'end ]] || line=$'\n'${line}
  printf '%s\n' "${line}" >>"${SLURM_CONF}/slurm.conf"
}

# The file with our block in the place of an older one. What somebody else says in it is not said again.
slurm_conf_lines() {
  local others=''
  [[ ! -e ${SLURM_CONF}/accounting.conf ]] \
    || others=$(awk '/^# trainyard: begin$/ { ours = 1 } !ours; /^# trainyard: end$/ { ours = 0 }' "${SLURM_CONF}/accounting.conf")
  [[ -z ${others} ]] || printf '%s\n' "${others}"
  printf '# trainyard: begin\n'
  [[ -z ${NODE[job_hooks]-} ]] || printf '%s\n' "Prolog=${SLURM_SCRIPTS}/prolog.sh" "Epilog=${SLURM_SCRIPTS}/epilog.sh" \
    "TaskProlog=${SLURM_SCRIPTS}/task-prolog.sh"
  [[ -z ${NODE[accounting]-} || ${others} =~ (^|$'\n')[[:space:]]*AccountingStorageType= ]] \
    || printf '%s\n' 'AccountingStorageType=accounting_storage/slurmdbd' "AccountingStorageHost=${NODE[address]}" \
      'JobAcctGatherType=jobacct_gather/linux' 'JobAcctGatherFrequency=30'
  printf '# trainyard: end\n'
}
