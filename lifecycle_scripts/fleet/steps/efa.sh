# shellcheck shell=bash
# The kernel's side of EFA: the verbs module, and a device for each interface.
: "${ROOT?}"
declare -gA NODE

step efa 'load the modules of EFA' \
  'the image has no EFA driver, or the launch template has no EFA interfaces, or the group lacks its rules to itself'

step_efa_done() {
  ((NODE[efa_interfaces] == 0)) || { holds "${ROOT}/etc/modules-load.d/trainyard.conf" ib_uverbs && efa_has_devices; }
}

step_efa_run() {
  put_file "${ROOT}/etc/modules-load.d/trainyard.conf" 0644 ib_uverbs # some images leave it out
  modprobe ib_uverbs
  wait_until 60 'devices of EFA' efa_has_devices
}

step_efa_verify() {
  step_efa_done
}

efa_has_devices() {
  local path count=0
  for path in "${ROOT}"/dev/infiniband/uverbs*; do
    [[ ! -e ${path} ]] || count=$((count + 1))
  done
  ((count >= NODE[efa_interfaces])) || {
    printf '%s has %s EFA interfaces, found %s\n' "${NODE[instance_type]}" "${NODE[efa_interfaces]}" "${count}" >&2
    return 1
  }
}
