# shellcheck shell=bash
# The list of nodes that run jobs, for mpirun and pdsh: one file on the shared file system, which the controller renews as
# nodes come and go.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE

HOSTFILE_PROGRAM=/opt/trainyard/hostfile.sh
HOSTFILE_UNITS=${ROOT}/etc/systemd/system

step hostfile 'keep the list of hosts' 'root may not write to the shared file system' 'lustre openzfs'

step_hostfile_done() {
  [[ -z ${NODE[hostfile]-} || -z ${NODE[shared]} || ${NODE[role]} != controller ]] \
    || { hostfile_each hostfile_holds && systemctl is-active --quiet trainyard-hostfile.timer \
      && [[ -e ${ROOT}${NODE[shared]}/trainyard/hostfile ]]; }
}

step_hostfile_run() {
  local hosts
  mkdir -p -- "${ROOT}${NODE[shared]}/trainyard"
  hosts=$(network_hosts)
  [[ -e ${ROOT}${NODE[shared]}/trainyard/hostfile ]] || put_file "${ROOT}${NODE[shared]}/trainyard/hostfile" 0644 "${hosts}"
  hostfile_each put_file
  systemctl enable --now trainyard-hostfile.timer
}

step_hostfile_verify() {
  step_hostfile_done
}

# hostfile_each COMMAND: calls COMMAND PATH MODE TEXT for the program and its units.
hostfile_each() {
  local program service timer
  program=$(<"${BUNDLE}/hostfile.sh") && service=$(hostfile_service) && timer=$(hostfile_timer) \
    && "$1" "${ROOT}${HOSTFILE_PROGRAM}" 0755 "${program}" \
    && "$1" "${HOSTFILE_UNITS}/trainyard-hostfile.service" 0644 "${service}" \
    && "$1" "${HOSTFILE_UNITS}/trainyard-hostfile.timer" 0644 "${timer}"
}

hostfile_holds() {
  holds "$1" "$3"
}

hostfile_service() {
  printf '%s\n' '[Unit]' 'Description=Which nodes run jobs' "RequiresMountsFor=${NODE[shared]}" '[Service]' \
    'Type=oneshot' "ExecStart=${HOSTFILE_PROGRAM} ${NODE[shared]}/trainyard/hostfile"
}

hostfile_timer() {
  printf '%s\n' '[Unit]' 'Description=Which nodes run jobs, every half minute' '[Timer]' 'OnActiveSec=10' \
    'OnUnitActiveSec=30' 'AccuracySec=5' '[Install]' 'WantedBy=timers.target'
}
