# shellcheck shell=bash
# Runtime, collectives and tools, exactly the versions that were released together.
: "${ROOT?}" "${NEURON_RUNTIME?}"

# shellcheck disable=SC2016  # each shell that reads it has a path of its own
NEURON_PROFILE='export PATH=/opt/aws/neuron/bin:${PATH}'

step neuron_runtime 'install runtime, collectives and tools' \
  'the repository has these versions no more, another package needs another version, or the image has a driver of another time'

step_neuron_runtime_done() {
  all_installed "${NEURON_RUNTIME[@]}" && holds "${ROOT}/etc/profile.d/neuron.sh" "${NEURON_PROFILE}"
}

step_neuron_runtime_run() {
  driver_fits
  install_packages 600 "${NEURON_RUNTIME[@]}"
  put_file "${ROOT}/etc/profile.d/neuron.sh" 0644 "${NEURON_PROFILE}"
}

step_neuron_runtime_verify() {
  all_installed "${NEURON_RUNTIME[@]}"
}
