# shellcheck shell=bash
# FSx for OpenZFS, for homes. HyperPod may have mounted it, perhaps until the next boot only; from outside nobody can tell.
: "${ROOT?}" "${HOST?}" "${BUNDLE?}"
declare -gA NODE
# shellcheck source-path=SCRIPTDIR source=../../lib/fstab.sh
source "${BUNDLE}/lib/fstab.sh"

# As AWS's own scripts; nconnect: one connection to the server carries one flow of EC2, which is held to 5 Gbit/s.
OPENZFS_OPTIONS=nfsvers=4.2,noatime,nconnect=16,rsize=1048576,wsize=1048576,_netdev,x-systemd.automount
OPENZFS_OPTIONS+=,x-systemd.requires=network-online.target
OPENZFS_KEPT=${ROOT}/var/lib/trainyard/homes # of the image, which a mount at /home hides

step openzfs 'mount FSx for OpenZFS' \
  'the security group does not let port 2049 through, the image lacks mount.nfs, or the volume is not /fsx' 'network'

step_openzfs_done() {
  [[ -z ${NODE[openzfs]-} ]] \
    || { mountpoint -q -- "${ROOT}${NODE[openzfs_mount_path]}" \
      && openzfs_is_listed && openzfs_answers 2>/dev/null; }
}

step_openzfs_run() {
  local path=${ROOT}${NODE[openzfs_mount_path]} line
  mkdir -p -- "${path}"
  openzfs_keep_homes "${path}"
  line=$(openzfs_line)
  fstab_put "${NODE[openzfs_mount_path]}" "${line}"
  wait_until 300 "the name ${NODE[openzfs_dns_name]}" getent hosts "${NODE[openzfs_dns_name]}"
  wait_until 600 "the mount of ${path}" openzfs_mount "${path}"
}

step_openzfs_verify() {
  wait_until 60 "a file that is written to ${NODE[openzfs_mount_path]} and read again" openzfs_answers
}

openzfs_mount() {
  mountpoint -q -- "$1" || mount -- "$1"
}

# What the image has below the mount point, whole or not at all; homes on the file system are made of it.
openzfs_keep_homes() {
  # shellcheck disable=SC2310  # questions
  if ! mountpoint -q -- "$1" && [[ ! -d ${OPENZFS_KEPT} ]]; then
    rm -rf -- "${OPENZFS_KEPT}.new"
    mkdir -p -- "${OPENZFS_KEPT%/*}"
    cp -a -- "$1" "${OPENZFS_KEPT}.new"
    mv -T -- "${OPENZFS_KEPT}.new" "${OPENZFS_KEPT}"
  fi
}

openzfs_line() {
  printf '%s:/fsx %s nfs %s 0 0' "${NODE[openzfs_dns_name]}" "${NODE[openzfs_mount_path]}" "${OPENZFS_OPTIONS}"
}

openzfs_is_listed() {
  local line
  line=$(openzfs_line) && fstab_has "${NODE[openzfs_mount_path]}" "${line}"
}

openzfs_answers() {
  # shellcheck disable=SC2016  # the inner shell expands them
  timeout 20 bash -c 'printf %s "$2" >"$1" && [[ $(<"$1") == "$2" ]] && rm -f -- "$1"' - \
    "${ROOT}${NODE[openzfs_mount_path]}/.trainyard-${HOST}" "$$"
}
