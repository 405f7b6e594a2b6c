# shellcheck shell=bash
# What a person sees who logs in: where they are, and where to look.
: "${ROOT?}" "${LOG_FILE?}"
declare -gA NODE

step motd 'say what this node is at log-in' 'the root file system cannot be written' 'network'

step_motd_done() {
  local wanted
  [[ -z ${NODE[motd]-} ]] || { wanted=$(motd_wanted) && holds "${ROOT}/etc/motd" "${wanted}"; }
}

step_motd_run() {
  local wanted
  wanted=$(motd_wanted)
  put_file "${ROOT}/etc/motd" 0644 "${wanted}"
}

step_motd_verify() {
  step_motd_done
}

motd_wanted() {
  local daemon=slurmd
  [[ ${NODE[role]} != controller ]] || daemon=slurmctld
  printf '\n%s\n' "HyperPod cluster ${NODE[cluster]}: ${NODE[instance]} (${NODE[role]}, ${NODE[instance_type]})"
  printf '  %-13s %s\n' 'set-up log' "${LOG_FILE#"${ROOT}"}" 'Slurm' "journalctl -u ${daemon}, /var/log/slurm"
  [[ -z ${NODE[lustre]-} ]] || printf '  %-13s %s\n' "${NODE[lustre_mount_path]}" 'FSx for Lustre, shared by all nodes'
  [[ -z ${NODE[openzfs]-} ]] || printf '  %-13s %s\n' "${NODE[openzfs_mount_path]}" 'FSx for OpenZFS, shared by all nodes'
  [[ -z ${NODE[hostfile]-} || -z ${NODE[shared]} ]] || printf '  %-13s %s\n' 'hosts' "${NODE[shared]}/trainyard/hostfile"
  printf '\n'
}
