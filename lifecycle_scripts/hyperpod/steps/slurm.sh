# shellcheck shell=bash
# Slurm by role: slurmctld on the controller; a configless slurmd elsewhere, which takes slurm.conf from the controller.
# HyperPod writes slurm.conf; nothing of it is changed here.
: "${ROOT?}" "${BUNDLE?}" "${HOST?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../../lib/restarts.sh
source "${BUNDLE}/lib/restarts.sh"

SLURM=${ROOT}/opt/slurm
UNITS=${ROOT}/etc/systemd/system
DROP_IN=/etc/systemd/system/slurmd.service.d/trainyard
SLURM_PLUGINS=${SLURM}/etc/plugstack.conf
SLURM_TAKEN=${ROOT}/var/spool/slurmd/conf-cache/slurm.conf # what a slurmd without a configuration of its own was sent
SLURM_PORT=${TRAINYARD_SLURMCTLD_PORT:-6817}
SLURM_RETRY=$'[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestart=on-failure\nRestartSec=5'

step slurm 'start Slurm' \
  "HyperPod's slurm.conf is not right, or a daemon cannot start with it: see journalctl -u slurmctld -u slurmd -u munge"

step_slurm_done() {
  case ${NODE[role]} in
    controller)
      slurm_answers 2>/dev/null && slurm_plugins_are_whole && [[ ! -e ${UNITS}/slurmd.service ]] \
        && holds "${UNITS}/slurmctld.service.d/trainyard.conf" "${SLURM_RETRY}"
      ;;
    *) slurm_is_registered 2>/dev/null && slurm_is_pointed && ! is_restart_due slurmd ;;
  esac
}

step_slurm_run() {
  case ${NODE[role]} in
    controller) slurm_start_controller ;;
    *) slurm_start_node ;;
  esac
}

step_slurm_verify() {
  case ${NODE[role]} in
    controller) slurm_verify_controller ;;
    *) slurm_verify_node ;;
  esac
}

# ---------------------------------------------------------------- controller
slurm_start_controller() {
  slurm_park slurmd # one that is restarted on the controller deletes slurm.conf there
  slurm_plugins_are_whole || slurm_write_plugins
  put_file "${UNITS}/slurmctld.service.d/trainyard.conf" 0644 "${SLURM_RETRY}"
  systemctl enable --now munge slurmctld || warn 'slurmctld did not start at once; it is started again every 5 s'
}

# Nodes without a configuration of their own are sent plugstack.conf, and nothing that it includes.
slurm_plugins_are_whole() {
  [[ ! -e ${SLURM_PLUGINS} ]] || ! grep -qiE '^[[:space:]]*include[[:space:]]' -- "${SLURM_PLUGINS}"
}

slurm_write_plugins() {
  local lines
  lines=$(python3 -ISB "${BUNDLE}/plugstack.py" --root "${ROOT}" "${SLURM_PLUGINS}")
  put_file "${SLURM_PLUGINS}" 0644 "${lines}"
}

slurm_answers() {
  local answer
  answer=$(timeout 10 "${SLURM}/bin/scontrol" ping) && [[ ${answer} == *UP* ]]
}

# With continuous provisioning the controller comes before the nodes, and a Slurm whose partitions or topology have no node
# may refuse to start: it is started again until HyperPod has named one.
slurm_has_nodes() {
  grep -qiE '^[[:space:]]*NodeName=' -- "${SLURM}/etc/slurm.conf"
}

# HyperPod's auto-resume stands on two settings of its slurm.conf.
slurm_verify_controller() {
  local running
  wait_until 300 'an answer of slurmctld' slurm_answers || {
    # shellcheck disable=SC2310  # a question
    ! slurm_has_nodes || slurm_fail 'slurmctld does not answer' slurmctld
    warn 'slurmctld does not run yet: slurm.conf names no node; it is started again every 5 s until it does'
    return
  }
  running=$(timeout 10 "${SLURM}/bin/scontrol" show config)
  [[ ${running} =~ TaskPlugin[[:blank:]]*=[[:blank:]]*task/none ]] \
    || warn 'TaskPlugin is not task/none: auto-resume of jobs will not work'
  [[ ${running} == *permit_job_expansion* ]] \
    || warn 'SchedulerParameters lack permit_job_expansion: auto-resume of jobs will not work'
}

# ---------------------------------------------------------------- login and compute
slurm_start_node() {
  local options drop_in unit
  slurm_park slurmctld
  unit=$(systemctl cat slurmd)
  [[ ${unit} =~ (^|$'\n')ExecStart=[^$'\n']*(SLURMD_OPTIONS|--conf-server) ]] \
    || fail 'the unit slurmd takes no SLURMD_OPTIONS: this machine image is not one of HyperPod for Slurm'
  options=$(slurm_options)
  restart_due slurmd
  put_file "${ROOT}${DROP_IN}.env" 0644 "${options}"
  drop_in=$(slurm_drop_in)
  put_file "${ROOT}${DROP_IN}.conf" 0644 "${drop_in}"
  systemctl enable munge slurmd
  systemctl start munge
  systemctl restart slurmd || warn 'slurmd did not start at once'
  restart_made slurmd
}

# The unit stays as the image has it: systemd expands SLURMD_OPTIONS by itself, and takes the last file that sets it. One
# word, because ${SLURMD_OPTIONS} in a unit is one argument, whatever blanks are in it.
slurm_options() {
  printf 'SLURMD_OPTIONS="--conf-server=%s"\n' "${NODE[controllers]}"
}

# The controller may come later than this node, and this node's line in slurm.conf later still: slurmd tries for ever.
# Jobs have slurmd's limits: EFA must lock memory, and thousands of connections are as many open files. The numbers are
# those of the unit that comes with Slurm.
slurm_drop_in() {
  printf '%s\n' '[Unit]' 'StartLimitIntervalSec=0' '[Service]' "EnvironmentFile=${DROP_IN}.env" \
    'Restart=on-failure' 'RestartSec=10' 'LimitMEMLOCK=infinity' 'LimitNOFILE=131072'
}

slurm_is_pointed() {
  local options drop_in
  options=$(slurm_options) && drop_in=$(slurm_drop_in) \
    && holds "${ROOT}${DROP_IN}.env" "${options}" && holds "${ROOT}${DROP_IN}.conf" "${drop_in}"
}

slurm_verify_node() {
  systemctl is-enabled --quiet slurmd
  # shellcheck disable=SC2310  # a question
  wait_until 60 'slurmd to register' slurm_is_registered || slurm_waits_for_others \
    || wait_until 300 'slurmd to register' slurm_is_registered \
    || slurm_fail "slurmd did not register with the controller (${NODE[controllers]})" slurmd
}

# What slurmctld says of a node that has registered, and answers.
slurm_is_registered() {
  local said
  slurm_listens && said=$(timeout 10 "${SLURM}/bin/scontrol" --oneliner show node "${HOST}") \
    && [[ ${said} == *' SlurmdStartTime='[0-9]* && ! ${said} =~ \ State=[^\ ]*(UNKNOWN|NOT_RESPONDING|\*) ]]
}

# A slurmd that lacks what others have to do tries for ever, and that is no fault of this node: a controller that runs, or
# the node's line in slurm.conf. HyperPod writes that minutes after the node, and where log-in nodes run no jobs never.
slurm_waits_for_others() {
  local lacks='knows this node'
  slurm_reaches_controller || lacks='answers'
  [[ ${lacks} == answers ]] || slurm_is_unknown || return
  warn "slurmd does not run yet; it tries every 10 s until the controller (${NODE[controllers]}) ${lacks}"
}

slurm_is_unknown() {
  local said name="(${HOST}|${NODE[address]//./\\.})"
  said=$(slurm_last_word slurmd)
  [[ ${said} == *"Unable to determine this slurmd's NodeName"* ]] \
    || { [[ -e ${SLURM_TAKEN} ]] && ! grep -qE "^[[:space:]]*NodeName=(.*[=,])?${name}([,[:space:]]|$)" -- "${SLURM_TAKEN}"; }
}

slurm_reaches_controller() {
  local address
  for address in ${NODE[controllers]//,/ }; do
    # shellcheck disable=SC2016  # the inner shell expands them
    ! timeout 5 bash -c 'exec 3<>"/dev/tcp/$1/$2"' - "${address}" "${SLURM_PORT}" 2>/dev/null || return 0
  done
  return 1
}

# A slurmd that the controller does not know is active too, until it has asked: it listens when it has been answered.
slurm_listens() {
  local sockets
  systemctl is-active --quiet slurmd && sockets=$(ss --no-header --listening --tcp --processes) && [[ ${sockets} == *'"slurmd"'* ]]
}

# ---------------------------------------------------------------- both
# slurm_last_word DAEMON: what it said last, and not what systemd said of it.
slurm_last_word() {
  journalctl --boot --lines=1 --output=cat "_COMM=$1" 2>&1 || true
}

# slurm_fail SENTENCE DAEMON
slurm_fail() {
  local said
  said=$(slurm_last_word "$2")
  fail "$1: ${said}"
}

# slurm_park UNIT: a unit that must not run here. It cannot be masked: its own file stands where the mask would. Who calls
# this enables units next, and with that systemd reads them all again.
slurm_park() {
  local unit=${UNITS}/$1.service
  [[ ! -e ${unit} ]] || {
    systemctl disable --no-reload --now "$1"
    mv -f -- "${unit}" "${unit}.not-on-a-${NODE[role]}"
  }
}
