# shellcheck shell=bash
# Log rotation, by the logrotate of the image: a root volume has 100 GB and no way to grow.
: "${ROOT?}"
declare -gA NODE

LOGS_FILE=${ROOT}/etc/logrotate.d/trainyard

step logs 'rotate the logs' 'the image has no logrotate, or another file in /etc/logrotate.d names the same logs' 'network'

step_logs_done() {
  local wanted
  [[ -z ${NODE[logs]-} ]] || { wanted=$(logs_wanted) && holds "${LOGS_FILE}" "${wanted}"; }
}

step_logs_run() {
  local wanted
  wanted=$(logs_wanted)
  put_file "${LOGS_FILE}" 0644 "${wanted}"
}

step_logs_verify() {
  logrotate --debug "${LOGS_FILE}" >/dev/null 2>&1 || fail "logrotate refuses ${LOGS_FILE}: see logrotate --debug ${LOGS_FILE}"
}

# HyperPod follows the provisioning log by its name and place, so it is emptied where it is. Slurm's daemons are told.
logs_wanted() {
  local every
  every=$(printf '  %s\n' daily "rotate ${NODE[logs_days]}" "maxsize ${NODE[logs_size_mb]}M" missingok notifempty compress \
    delaycompress)
  printf '%s\n' '/var/log/provision/*.log {' "${every}" '  copytruncate' '}' '' \
    '/var/log/slurm/*.log /var/log/slurmd.log /var/log/slurmctld.log /var/log/slurmdbd.log {' "${every}" \
    '  su root root' '  sharedscripts' '  postrotate' \
    "    pkill --signal USR2 --exact 'slurmctld|slurmd|slurmdbd' || true" \
    '  endscript' '}'
}
