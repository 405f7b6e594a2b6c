# shellcheck shell=bash
# The shared file system. HyperPod may have mounted it: until the next boot only, or without flock; from outside nobody can tell.
: "${ROOT?}" "${HOST?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../../lib/fstab.sh
source "${BUNDLE}/lib/fstab.sh"

# flock: MPI-IO and package managers need it. automount: a reboot without the file system still boots.
LUSTRE_OPTIONS=noatime,flock,_netdev,x-systemd.automount,x-systemd.requires=network-online.target

step lustre 'mount FSx for Lustre' \
  "the security group lacks its rules to itself, the mount name is another file system's, or root squash covers the nodes" \
  'network lustre_client lustre_efa'

step_lustre_done() {
  [[ -z ${NODE[lustre_dns_name]-} ]] \
    || { mountpoint -q -- "${ROOT}${NODE[lustre_mount_path]}" && lustre_has_flock \
      && lustre_is_listed && lustre_answers 2>/dev/null; }
}

step_lustre_run() {
  local path=${ROOT}${NODE[lustre_mount_path]} line
  mkdir -p -- "${path}"
  line=$(lustre_line)
  fstab_put "${NODE[lustre_mount_path]}" "${line}"
  # shellcheck disable=SC2310  # a question
  lustre_has_flock || umount -- "${path}" || true # verify says so
  wait_until 600 "the mount of ${path}" lustre_mount "${path}"
}

step_lustre_verify() {
  wait_until 60 "a file that is written to ${NODE[lustre_mount_path]} and read again" lustre_answers
  lustre_has_flock || warn "${NODE[lustre_mount_path]} is in use and without flock, so no node sees another's locks: a reboot mounts it right"
}

lustre_mount() {
  mountpoint -q -- "$1" || mount -- "$1"
}

# With EFA too the address is the one of TCP: clients find the other way by asking there.
lustre_line() {
  printf '%s@tcp:/%s %s lustre %s 0 0' "${NODE[lustre_dns_name]}" "${NODE[lustre_mount_name]}" \
    "${NODE[lustre_mount_path]}" "${LUSTRE_OPTIONS}"
}

lustre_is_listed() {
  local line
  line=$(lustre_line) && fstab_has "${NODE[lustre_mount_path]}" "${line}"
}

# What is not mounted yet is mounted with our options.
lustre_has_flock() {
  local options
  options=$(awk -v path="${ROOT}${NODE[lustre_mount_path]}" '$2 == path && $3 == "lustre" { print "," $4 "," }' "${ROOT}/proc/mounts" 2>/dev/null) || true
  [[ -z ${options} || ${options} == *,flock,* ]]
}

# A mounted file system whose servers are gone would hang whoever asks it: hence the time limit.
lustre_answers() {
  # shellcheck disable=SC2016  # the inner shell expands them
  timeout 20 bash -c 'printf %s "$2" >"$1" && [[ $(<"$1") == "$2" ]] && rm -f -- "$1"' - \
    "${ROOT}${NODE[lustre_mount_path]}/.trainyard-${HOST}" "$$"
}
