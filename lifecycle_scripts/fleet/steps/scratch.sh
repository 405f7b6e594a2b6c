# shellcheck shell=bash
# The instance store as one fast volume. What is on it is lost with the instance: caches, and nothing else.
: "${ROOT?}"

SCRATCH=/scratch
SCRATCH_DLAMI=/opt/dlami/nvme # where Deep Learning AMIs mount it themselves
SCRATCH_OPTIONS=noatime,nodiratime,nofail,discard

step scratch 'put the instance store together' 'a disk is broken, or the image has no mdadm or no mkfs.xfs'

step_scratch_done() {
  local disks
  scratch_is_there || { disks=$(scratch_disks) && [[ -z ${disks} ]]; }
}

step_scratch_run() {
  local listed device
  local -a disks
  # shellcheck disable=SC2310  # a question
  if mountpoint -q -- "${ROOT}${SCRATCH}"; then # by a run that was killed
    chmod -- 1777 "${ROOT}${SCRATCH}"
    return
  fi
  # shellcheck disable=SC2310  # a question
  if mountpoint -q -- "${ROOT}${SCRATCH_DLAMI}"; then
    ln -sfn -- "${SCRATCH_DLAMI}" "${ROOT}${SCRATCH}"
    return
  fi
  listed=$(scratch_disks)
  mapfile -t disks <<<"${listed}"
  device=${disks[0]}
  if ((${#disks[@]} > 1)); then
    device=/dev/md/trainyard
    [[ -e ${ROOT}${device} ]] || mdadm --assemble "${device}" "${disks[@]}" 2>/dev/null \
      || mdadm --create "${device}" --run --homehost=any --level=0 --raid-devices="${#disks[@]}" "${disks[@]}"
  fi
  mkdir -p -- "${ROOT}${SCRATCH}"
  # shellcheck disable=SC2310  # a question: after a reboot everything is there
  scratch_mount "${device}" 2>/dev/null || {
    mkfs.xfs -q -f -L scratch "${device}"
    scratch_mount "${device}"
  }
  chmod -- 1777 "${ROOT}${SCRATCH}"
}

scratch_mount() {
  mount -o "${SCRATCH_OPTIONS}" -- "$1" "${ROOT}${SCRATCH}"
}

step_scratch_verify() {
  scratch_is_there
}

# Mounted, and open to everybody: the sticky bit comes with the rest of the mode.
scratch_is_there() {
  [[ -L ${ROOT}${SCRATCH} ]] || { mountpoint -q -- "${ROOT}${SCRATCH}" && [[ -k ${ROOT}${SCRATCH} ]]; }
}

# Disks of the instance store, one a line; EBS volumes are NVMe devices too, of another model.
scratch_disks() {
  local listed
  listed=$(lsblk --nodeps --noheadings --paths --output NAME,MODEL)
  awk '/Amazon EC2 NVMe Instance Storage/ { print $1 }' <<<"${listed}"
}
