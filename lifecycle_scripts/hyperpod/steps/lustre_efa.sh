# shellcheck shell=bash
# Lustre over EFA, for a file system that has it on a node that has it. Without it Lustre takes TCP: slower, and right.
# So nothing here fails the run; the reason is said. A unit does it again at every boot, before file systems are mounted.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE

LUSTRE_EFA_PROGRAM=/opt/trainyard/lustre-efa.sh
LUSTRE_EFA_UNIT=/etc/systemd/system/trainyard-lustre-efa.service

step lustre_efa 'let Lustre use EFA' 'the root file system cannot be written' 'network'

step_lustre_efa_done() {
  [[ -z ${NODE[lustre_efa]-} || ${NODE[efa_interfaces]} == 0 ]] || lustre_efa_is_up >/dev/null 2>&1
}

step_lustre_efa_run() {
  local program unit
  program=$(<"${BUNDLE}/lustre-efa.sh")
  mkdir -p -- "${ROOT}/run"
  put_file "${ROOT}${LUSTRE_EFA_PROGRAM}" 0755 "${program}"
  unit=$(lustre_efa_unit)
  put_file "${ROOT}${LUSTRE_EFA_UNIT}" 0644 "${unit}"
  systemctl enable trainyard-lustre-efa.service
  lustre_efa_start || true # verify says so
}

step_lustre_efa_verify() {
  local reason
  lustre_efa_is_up || {
    reason=$(lustre_efa_reason)
    warn "Lustre takes TCP on this node, not EFA: ${reason:-the network efa is not up}"
  }
}

lustre_efa_start() {
  if mountpoint -q -- "${ROOT}${NODE[lustre_mount_path]}"; then
    log 'a file system is mounted over TCP already; EFA comes with the next boot'
  else
    TRAINYARD_ROOT=${ROOT} bash "${ROOT}${LUSTRE_EFA_PROGRAM}" >"${ROOT}/run/trainyard-lustre-efa" 2>&1
  fi
}

lustre_efa_is_up() {
  local networks
  networks=$(lnetctl net show --net efa) && [[ ${networks} == *'status: up'* && ! -e ${ROOT}/run/trainyard-lustre-efa.half ]]
}

# The last word of the program that failed.
lustre_efa_reason() {
  local said=''
  [[ ! -s ${ROOT}/run/trainyard-lustre-efa ]] || said=$(<"${ROOT}/run/trainyard-lustre-efa")
  printf '%s' "${said##*$'\n'}"
}

# remote-fs-pre.target is for units to wait at, and nobody's but theirs to ask for (systemd.special(7)).
lustre_efa_unit() {
  printf '%s\n' '[Unit]' 'Description=Lustre over EFA' 'After=network-online.target' \
    'Wants=network-online.target remote-fs-pre.target' 'Before=remote-fs-pre.target' '[Service]' 'Type=oneshot' \
    'RemainAfterExit=yes' "ExecStart=${LUSTRE_EFA_PROGRAM}" '[Install]' 'WantedBy=multi-user.target'
}
