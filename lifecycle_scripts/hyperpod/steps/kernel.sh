# shellcheck shell=bash
# The kernel stays the image's, and Lustre's modules with it: a newer one that apt brings would run after a reboot without
# the modules of Lustre, EFA, Neuron and NVIDIA, which are built for this one. A new image brings a new kernel.
: "${BUNDLE?}"
# shellcheck source-path=SCRIPTDIR source=../../lib/packages.sh
source "${BUNDLE}/lib/packages.sh"

KERNEL_PACKAGES=('lustre-client-modules-*' 'lustre-client-utils*' 'linux-aws*' 'linux-image-*' 'linux-headers-*' 'linux-modules-*')

step kernel "hold the kernel and Lustre's modules" "the package manager's lock is not given up" 'network'

step_kernel_done() {
  local movable
  movable=$(movable_packages "${KERNEL_PACKAGES[@]}") && [[ -z ${movable} ]]
}

step_kernel_run() {
  hold_packages "${KERNEL_PACKAGES[@]}"
}

step_kernel_verify() {
  step_kernel_done
}
