# shellcheck shell=bash
# What a node of a ParallelCluster is, and what hardware it has, whatever drivers are there.
: "${ROOT?}"
# Inferentia (7064 to 7067) and later Neuron devices of Amazon (vendor 1d0f), as the driver lists them.
NEURON_PCI=' 0x7064 0x7065 0x7066 0x7067 0x7164 0x7264 0x7364 0x7564 0x7565 '

# node_type: HeadNode, ComputeFleet or LoginNode.
node_type() {
  # shellcheck source=/dev/null
  (source "${ROOT}/etc/parallelcluster/cfnconfig" && printf '%s' "${cfn_node_type:?}")
}

# has_neuron_device: whether the hardware is there, driver or not.
has_neuron_device() {
  local count
  count=$(neuron_devices)
  ((count > 0))
}

# neuron_devices: how many there are.
neuron_devices() {
  pci_devices is_neuron
}

# gpus: how many of NVIDIA there are.
gpus() {
  pci_devices is_gpu
}

# efa_interfaces: how many devices have EFA's driver.
efa_interfaces() {
  local path driver count=0
  for path in "${ROOT}"/sys/class/infiniband/*/device/driver; do
    [[ -e ${path} ]] && driver=$(readlink -f -- "${path}") && [[ ${driver##*/} == efa ]] && count=$((count + 1))
  done
  printf '%s' "${count}"
}

# pci_devices QUESTION: for how many devices on the bus `QUESTION VENDOR DEVICE CLASS` succeeds.
pci_devices() {
  local path vendor device class count=0
  for path in "${ROOT}"/sys/bus/pci/devices/*; do
    [[ -r ${path}/vendor && -r ${path}/device ]] || continue
    vendor=$(<"${path}/vendor")
    device=$(<"${path}/device")
    class=''
    [[ ! -r ${path}/class ]] || class=$(<"${path}/class")
    # shellcheck disable=SC2310  # a question
    "$1" "${vendor}" "${device}" "${class}" && count=$((count + 1))
  done
  printf '%s' "${count}"
}

is_neuron() {
  [[ $1 == 0x1d0f && ${NEURON_PCI} == *" $2 "* ]]
}

# A display controller (class 03) of NVIDIA; its bridges and switches have other classes.
is_gpu() {
  [[ $1 == 0x10de && $3 == 0x03* ]]
}
