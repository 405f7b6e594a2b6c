# shellcheck shell=bash
# EFA interfaces, Neuron devices and GPUs: as many as the instance type has. One that is missing on one node of five
# hundred slows the whole job down, silently.
: "${ROOT?}"
declare -gA NODE

step devices 'count EFA interfaces, Neuron devices and GPUs' \
  'broken hardware (let the node be replaced), or a machine image without the driver for this instance type' \
  'network'

step_devices_done() {
  devices_complete 2>/dev/null
}

step_devices_run() {
  wait_until 120 'drivers that may still be loading' devices_complete || devices_complete devices_due
}

step_devices_verify() {
  local missing
  missing=$(devices_complete 2>&1) || {
    devices_complete devices_due
    warn "${missing}: HyperPod may give this type none"
  }
}

# devices_due KIND: how many must be there. On P and Trn HyperPod checks EFA itself; of its other types EC2 says that they can
# have EFA, and nobody that HyperPod attaches it: such a node is held to what it has.
devices_due() {
  local due=${NODE[$1]} found
  [[ $1 != efa_interfaces || ${NODE[instance_type]} != ml.* || ${NODE[instance_type]} == ml.@(p|trn)[0-9]* ]] \
    || ((due == 0)) || {
    found=$(devices_efa_interfaces)
    ((found >= due)) || due=${found}
  }
  printf '%s' "${due}"
}

# devices_complete [FUNCTION]: whether all are there, or as many as FUNCTION says.
devices_complete() {
  local kind expected found
  for kind in efa_interfaces neuron_devices gpus; do
    expected=${NODE[${kind}]}
    [[ -z ${1-} ]] || expected=$("$1" "${kind}")
    ((expected == 0)) || {
      found=$("devices_${kind}")
      ((found >= expected)) || {
        printf '%s: %s has %s, found %s\n' "${kind}" "${NODE[instance_type]}" "${expected}" "${found}" >&2
        return 1
      }
    }
  done
}

# fi_info names a domain several times, and fails when there is none.
devices_efa_interfaces() {
  local listed
  listed=$("${ROOT}/opt/amazon/efa/bin/fi_info" -p efa -t FI_EP_RDM) || listed=''
  awk '$1 == "domain:" && !seen[$2]++ { count++ } END { print count + 0 }' <<<"${listed}"
}

devices_neuron_devices() {
  devices_count "${ROOT}"/dev/neuron[0-9]*
}

devices_gpus() {
  devices_count "${ROOT}"/proc/driver/nvidia/gpus/*
}

# A pattern that matches nothing stays as it is, and does not exist.
devices_count() {
  local path count=0
  for path in "$@"; do
    [[ ! -e ${path} ]] || count=$((count + 1))
  done
  printf '%s' "${count}"
}
