# shellcheck shell=bash
# Slurm by role: slurmctld on the controller; a configless slurmd elsewhere, which takes slurm.conf from the controller.
# HyperPod writes slurm.conf; nothing of it is changed here.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../../lib/restarts.sh
source "${BUNDLE}/lib/restarts.sh"

SLURM=${ROOT}/opt/slurm
UNITS=${ROOT}/etc/systemd/system
DROP_IN=/etc/systemd/system/slurmd.service.d/trainyard
SLURM_PLUGINS=${SLURM}/etc/plugstack.conf

step slurm 'start Slurm' \
  "HyperPod has not written slurm.conf, or a daemon cannot start with it: see journalctl -u slurmctld -u slurmd -u munge"

step_slurm_done() {
  case ${NODE[role]} in
    controller) slurm_answers 2>/dev/null && slurm_plugins_are_whole && [[ ! -e ${UNITS}/slurmd.service ]] ;;
    *) slurm_listens && slurm_is_pointed && ! is_restart_due slurmd ;;
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
  systemctl enable --now munge slurmctld
}

# Nodes without a configuration of their own are sent plugstack.conf, and nothing that it includes.
slurm_plugins_are_whole() {
  [[ ! -e ${SLURM_PLUGINS} ]] || ! grep -qiE '^[[:space:]]*include[[:space:]]' -- "${SLURM_PLUGINS}"
}

slurm_write_plugins() {
  local lines
  lines=$(python3 -B "${BUNDLE}/plugstack.py" --root "${ROOT}" "${SLURM_PLUGINS}")
  put_file "${SLURM_PLUGINS}" 0644 "${lines}"
}

slurm_answers() {
  local answer
  answer=$(timeout 10 "${SLURM}/bin/scontrol" ping) && [[ ${answer} == *UP* ]]
}

# HyperPod's auto-resume stands on two settings of its slurm.conf.
slurm_verify_controller() {
  local running
  wait_until 60 'an answer of slurmctld' slurm_answers
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
  systemctl daemon-reload
  systemctl enable --now munge
  systemctl enable slurmd
  systemctl restart slurmd || warn 'slurmd did not start at once'
  restart_made slurmd
}

# The unit stays as the image has it: systemd expands SLURMD_OPTIONS by itself, and takes the last file that sets it.
slurm_options() {
  printf 'SLURMD_OPTIONS="--conf-server %s"\n' "${NODE[controllers]}"
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
  wait_until 30 'slurmd' slurm_listens \
    || warn "slurmd does not run yet; it tries every 10 s until the controller (${NODE[controllers]}) knows this node"
}

# A slurmd that the controller does not know is active too, until it has asked: it listens when it has been answered.
slurm_listens() {
  local sockets
  systemctl is-active --quiet slurmd && sockets=$(ss --no-header --listening --tcp --processes) && [[ ${sockets} == *'"slurmd"'* ]]
}

# ---------------------------------------------------------------- both
# slurm_park UNIT: a unit that must not run here. It cannot be masked: its own file stands where the mask would.
slurm_park() {
  local unit=${UNITS}/$1.service
  [[ ! -e ${unit} ]] || {
    systemctl disable --now "$1"
    mv -f -- "${unit}" "${unit}.not-on-a-${NODE[role]}"
    systemctl daemon-reload
  }
}
