# shellcheck shell=bash
# The kernel module: for nodes with a Neuron device, unless the image brings one. A Neuron DLAMI is tested with its own.
: "${ROOT?}" "${NEURON_DRIVER?}"

step neuron_driver 'install the driver' \
  'the repository has this version no more, or the module does not build for this kernel; an image with the driver needs neither'

step_neuron_driver_done() {
  local version
  if ! has_neuron_device; then
    log 'there is no Neuron device on this node'
  elif version=$(installed "${NEURON_DRIVER[0]}") && [[ -e ${ROOT}/dev/neuron0 ]]; then
    log "the driver that is there stays: ${version}"
  else
    return 1
  fi
}

step_neuron_driver_run() {
  local system
  system=$(neuron_system)
  # shellcheck disable=SC2310  # a question
  driver_is_settled || {
    "kernel_headers_${system}"
    install_packages 900 "${NEURON_DRIVER[@]}"
  }
  modprobe neuron
}

step_neuron_driver_verify() {
  wait_until 60 'the first Neuron device' test -e "${ROOT}/dev/neuron0"
}

kernel_headers_apt() {
  local kernel
  kernel=$(uname -r)
  [[ -e ${ROOT}/lib/modules/${kernel}/build ]] && return
  finish_packages
  apt_install 300 -- "linux-headers-${kernel}"
}

kernel_headers_dnf() {
  local kernel
  kernel=$(uname -r)
  [[ -e ${ROOT}/lib/modules/${kernel}/build ]] && return
  with_lock 300 dnf --assumeyes install -- "kernel-devel-uname-r = ${kernel}"
}
