# shellcheck shell=bash
# A topology for Slurm on the controller, where HyperPod has asked for one and has written none: now, and whenever it changes
# slurm.conf. slurm_topology.py says more.
: "${ROOT?}" "${BUNDLE?}"
declare -gA NODE

SLURM_TOPOLOGY_HOME=/opt/trainyard
SLURM_TOPOLOGY_UNITS=${ROOT}/etc/systemd/system

step slurm_topology 'a topology for Slurm, if HyperPod has written none' 'the root file system cannot be written' 'slurm_conf'

step_slurm_topology_done() {
  [[ ${NODE[role]} != controller ]] \
    || { slurm_topology_each slurm_topology_holds && slurm_topology_is_there \
      && systemctl is-active --quiet trainyard-topology.path; }
}

# The watch begins before the look: what HyperPod changes between the two, nobody else would notice.
step_slurm_topology_run() {
  slurm_topology_each put_file
  systemctl enable --now trainyard-topology.path
  wait_until 30 'a topology that can be written' slurm_topology_write # the watch's own program may be writing it
}

# slurm.conf may have changed again, and the watch's program may still be at it.
step_slurm_topology_verify() {
  wait_until 30 'a topology of all nodes' slurm_topology_is_there
}

# What is written here, the watch's program has not to write, and does not tell slurmctld of it.
slurm_topology_write() {
  local changed
  changed=$(python3 -ISB "${BUNDLE}/slurm_topology.py" "${ROOT}/opt/slurm/etc") \
    && { [[ -z ${changed} ]] || ! systemctl is-active --quiet slurmctld || systemctl restart slurmctld \
      || warn 'slurmctld did not restart at once; step slurm asks for its answer'; }
}

slurm_topology_is_there() {
  python3 -ISB "${BUNDLE}/slurm_topology.py" --check "${ROOT}/opt/slurm/etc"
}

# slurm_topology_each COMMAND: calls COMMAND PATH MODE TEXT for the programs and their units.
slurm_topology_each() {
  local program wrapper service watch
  program=$(<"${BUNDLE}/slurm_topology.py") && wrapper=$(<"${BUNDLE}/slurm-topology.sh") \
    && service=$(printf '%s\n' '[Unit]' 'Description=A topology for Slurm' 'StartLimitIntervalSec=0' '[Service]' 'Type=oneshot' \
      "ExecStart=${SLURM_TOPOLOGY_HOME}/slurm-topology.sh") \
    && watch=$(printf '%s\n' '[Unit]' 'Description=Changes of slurm.conf' '[Path]' 'PathChanged=/opt/slurm/etc/slurm.conf' \
      '[Install]' 'WantedBy=multi-user.target') \
    && "$1" "${ROOT}${SLURM_TOPOLOGY_HOME}/slurm_topology.py" 0755 "${program}" \
    && "$1" "${ROOT}${SLURM_TOPOLOGY_HOME}/slurm-topology.sh" 0755 "${wrapper}" \
    && "$1" "${SLURM_TOPOLOGY_UNITS}/trainyard-topology.service" 0644 "${service}" \
    && "$1" "${SLURM_TOPOLOGY_UNITS}/trainyard-topology.path" 0644 "${watch}"
}

slurm_topology_holds() {
  holds "$1" "$3"
}
