# shellcheck shell=bash
# The shared file system. HyperPod mounts it itself when FsxLustreConfig says so and its image configures the node.
: "${ROOT?}" "${HOST?}"
declare -gA NODE

# flock: MPI-IO and package managers need it. automount: a reboot without the file system still boots.
LUSTRE_OPTIONS=noatime,flock,_netdev,x-systemd.automount,x-systemd.requires=network-online.target

step lustre 'mount FSx for Lustre' \
  "the security group lacks its rules to itself, the mount name is another file system's, or root squash covers the nodes" \
  'network lustre_efa'

step_lustre_done() {
  [[ -z ${NODE[lustre_dns_name]-} ]] \
    || { mountpoint -q -- "${ROOT}${NODE[lustre_mount_path]}" && lustre_answers 2>/dev/null; }
}

step_lustre_run() {
  local path=${ROOT}${NODE[lustre_mount_path]}
  mkdir -p -- "${path}"
  rewrite "${ROOT}/etc/fstab" 0644 lustre_fstab
  systemctl daemon-reload # the automount unit that the line stands for
  wait_until 600 "the mount of ${path}" lustre_mount "${path}"
}

step_lustre_verify() {
  wait_until 60 "a file that is written to ${NODE[lustre_mount_path]} and read again" lustre_answers
}

lustre_mount() {
  mountpoint -q -- "$1" || mount -- "$1"
}

# The file of mounts, with our line in the place of any other for the same path. With EFA too the address is the one of TCP:
# clients find the other way by asking there.
lustre_fstab() {
  awk -v path="${NODE[lustre_mount_path]}" '$2 != path || /^[[:space:]]*#/' "${ROOT}/etc/fstab"
  printf '%s@tcp:/%s %s lustre %s 0 0\n' "${NODE[lustre_dns_name]}" "${NODE[lustre_mount_name]}" \
    "${NODE[lustre_mount_path]}" "${LUSTRE_OPTIONS}"
}

# A mounted file system whose servers are gone would hang whoever asks it: hence the time limit.
lustre_answers() {
  # shellcheck disable=SC2016  # the inner shell expands them
  timeout 20 bash -c 'printf %s "$2" >"$1" && [[ $(<"$1") == "$2" ]] && rm -f -- "$1"' - \
    "${ROOT}${NODE[lustre_mount_path]}/.trainyard-${HOST}" "$$"
}
