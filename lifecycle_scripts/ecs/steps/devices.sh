# shellcheck shell=bash
# The Neuron driver, and the devices that the task is given. A driver that the engine's runtime library cannot talk to
# shows only as a task that dies at nrt_init(), again and again: so it is asked here.
: "${ROOT?}"
declare -gA SETTINGS

NEURON_LS=${ROOT}/opt/aws/neuron/bin/neuron-ls

step devices 'ask the Neuron driver for its version and its devices' \
  'another AMI than the pinned one, or broken hardware: terminate the instance and let the group replace it'

step_devices_done() {
  false # hardware is asked at every boot
}

step_devices_run() {
  local version
  wait_until 120 "${SETTINGS[devices]} Neuron devices" devices_present
  version=$(cat -- "${ROOT}/sys/module/neuron/version")
  log "Neuron driver ${version}"
  # shellcheck disable=SC2310  # questions
  if [[ -n ${SETTINGS[driver_from]} ]] && ! devices_at_least "${version}" "${SETTINGS[driver_from]}"; then
    fail "driver ${version} is older than ${SETTINGS[driver_from]}, which the engine's runtime library needs"
  fi
  # shellcheck disable=SC2310
  if [[ -n ${SETTINGS[driver_before]} ]] && devices_at_least "${version}" "${SETTINGS[driver_before]}"; then
    fail "driver ${version} is not older than ${SETTINGS[driver_before]}: the engine's runtime library is too old for it"
  fi
}

step_devices_verify() {
  timeout 60 "${NEURON_LS}" --json-output >/dev/null || fail 'neuron-ls cannot talk to the devices'
}

devices_present() {
  local found
  found=("${ROOT}"/dev/neuron[0-9]*)
  [[ -e ${found[0]} ]] && ((${#found[@]} >= SETTINGS[devices]))
}

# devices_at_least VERSION OTHER
devices_at_least() {
  local sorted
  sorted=$(sort -V <<<"$1"$'\n'"$2") && [[ ${sorted%%$'\n'*} == "$2" ]]
}
